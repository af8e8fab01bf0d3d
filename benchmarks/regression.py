"""Regression forests: targets and rows read off the leaves, against guessing and a naive reading.

Raw German Credit and Adult with one of their numeric columns as target.  Float targets (the column
plus noise) are all different; whole numbers are shared by many rows.  "naive" is what a single tree
says without any of this: for every leaf the middle of its box, once per row.  "ratio" compares the
naive error with that of `reconstruct`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd

import glassleak as gl
from benchmarks.values import raw_table
from glassleak.reconstruction.regression._facts import facts_of

NAME = "regression"
HELP = "regression forests: share of targets and values recovered"
TARGETS = {"german": "credit_amount", "adult": "age"}
ROWS = {"german": (100, 300, 1000), "adult": (500,)}
FORESTS = ("default", "default, seeds unknown", "no bagging", "extra trees", "min_samples_leaf=2")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dataset", action="append", choices=sorted(TARGETS), help="(default: all)"
    )
    parser.add_argument("--rows", type=int, action="append", help="(default: 100, 300, 1000; 500)")
    parser.add_argument("--forest", action="append", choices=FORESTS, help="(default: all)")
    parser.add_argument("--targets", action="append", choices=("float", "whole"),
                        help="(default: both)")  # fmt: skip
    parser.add_argument("--trees", type=int, default=100, help="(default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=1, help="how many (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=60, help="seconds (default: %(default)g)")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; 1 if anything called certain is wrong."""
    lines: list[dict[str, Any]] = []
    for dataset in arguments.dataset or TARGETS:
        for n_rows in arguments.rows or ROWS[dataset]:
            for kind in arguments.targets or ("float", "whole"):
                for forest in arguments.forest or FORESTS:
                    for seed in range(arguments.seeds):
                        lines.append(_case(dataset, n_rows, kind, forest, seed, arguments))
                        print(lines[-1], flush=True)
    table = pd.DataFrame(lines)
    print(table.to_string(index=False, float_format=lambda v: f"{v:.4g}"))
    return int(bool((table["certain and wrong"] > 0).any()))


def _case(
    dataset: str, n_rows: int, kind: str, forest: str, seed: int, arguments: argparse.Namespace
) -> dict[str, Any]:
    X, y, schema = _table(dataset, n_rows, kind, seed)
    model = gl.read(_estimator(forest, arguments.trees, seed).fit(X, y))
    unknown = {"multiplicities": "unknown"} if "unknown" in forest else {}
    started, processor = time.perf_counter(), time.process_time()
    try:
        found = gl.reconstruct(model, schema, budget_seconds=arguments.budget, seed=seed, **unknown)
    except gl.GlassleakError as error:
        return {"dataset": dataset, "rows": n_rows, "targets": kind, "forest": forest,
                "status": type(error).__name__, "certain and wrong": 0}  # fmt: skip
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    error = gl.reconstruction_error(X, found.table, schema)
    naive = gl.reconstruction_error(X, _naive(model, schema, n_rows), schema)
    return {
        "dataset": dataset,
        "rows": n_rows,
        "targets": kind,
        "forest": forest,
        "seed": seed,
        "status": found.status,
        "targets right": _same_targets(found.labels, y),
        "rows certain": found.certificate.certain_rows / n_rows,
        "certain and wrong": _wrongly_certain(found, X, y),
        "error": error,
        "random": gl.random_baseline(None, schema, X, repeats=3, seed=seed).mean,
        "naive": naive,
        "ratio": naive / error if error else float("inf"),
        "seconds": seconds,
        "processor seconds": processor,
    }


def _table(
    dataset: str, n_rows: int, kind: str, seed: int
) -> tuple[pd.DataFrame, np.ndarray, gl.Schema]:
    X, _, schema = raw_table(dataset)
    target = TARGETS[dataset]
    X = X.sample(n=n_rows, random_state=seed, ignore_index=True)
    y = X.pop(target).to_numpy(dtype=float)
    if kind == "float":
        y = y + np.random.default_rng(seed).normal(0, 0.1 * y.std(), n_rows)
    return X, y, gl.Schema([a for a in schema if a.name != target])


def _estimator(forest: str, n_trees: int, seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

    if forest == "extra trees":
        return ExtraTreesRegressor(n_trees, random_state=seed)
    if forest == "no bagging":
        return RandomForestRegressor(
            n_trees, bootstrap=False, max_features="sqrt", random_state=seed
        )
    least = 2 if "leaf" in forest else 1
    return RandomForestRegressor(n_trees, min_samples_leaf=least, random_state=seed)


def _naive(model: gl.Forest, schema: gl.Schema, n_rows: int) -> pd.DataFrame:
    """The middles of the boxes of one tree's leaves, each as often as it holds rows."""
    facts = facts_of(model.trees[0], schema, None) if model.bagging.kind == "none" else None
    if facts is None:
        facts = facts_of(gl.Forest(model.trees[:1], provenance=model.provenance), schema, None)
    middle = (facts.low + facts.high) // 2
    values = np.column_stack([levels[middle[:, c]] for c, levels in enumerate(facts.levels)])
    rows = np.repeat(values, facts.distinct, axis=0)
    again = np.resize(np.arange(len(rows)), n_rows)  # a bag does not hold everybody
    return pd.DataFrame(rows[again], columns=list(model.columns))


def _same_targets(labels: np.ndarray, y: np.ndarray) -> float:
    """Share of the targets that were found, to nine digits."""
    left = list(np.sort(y))
    right = 0
    for value in np.sort(labels[~np.isnan(labels)]):
        at = int(np.searchsorted(left, value - 1e-9 * abs(value)))
        if at < len(left) and abs(left[at] - value) <= 1e-9 * max(abs(value), 1e-300):
            left.pop(at)
            right += 1
    return right / len(y)


def _wrongly_certain(found: gl.Reconstruction, X: pd.DataFrame, y: np.ndarray) -> int:
    certain = found.confidence >= 1
    rows = {tuple(np.round(row, 6)) for row in np.column_stack([X.to_numpy(float), y / y.std()])}
    claimed = np.column_stack([found.table.to_numpy(float), found.labels / y.std()])[certain]
    return sum(tuple(np.round(row, 6)) not in rows for row in claimed)
