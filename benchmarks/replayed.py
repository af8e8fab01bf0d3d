"""Bagged forests whose seeds are stored: how many rows come back at their own index, how fast?

The published samples, `RandomForestClassifier` with bagging, which stores one seed per tree.  "own
index" is the share of rows that are right at their own position, attributes and class; "in cell"
counts those up to values no tree that drew the row tells apart.  The authors' own code, given the
multiplicities, needed 184 s for COMPAS with 100 rows and 100 trees on two threads (measured).
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from typing import Any

import numpy as np
import pandas as pd

import glassleak as gl
from glassleak.errors import GlassleakError
from glassleak.papers.forests._data import schema_of, split_of
from glassleak.papers.forests._setting import DATASETS, Run

NAME = "replayed"
HELP = "bagged forests with stored seeds: rows at their own index"

PUBLISHED_SECONDS = {("compas", 100): 184.0}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", action="append", choices=DATASETS, help="(default: all)")
    parser.add_argument("--rows", type=int, action="append", help="(default: 100 and 1000)")
    parser.add_argument("--depth", type=int, action="append", help="0 is no limit (default: 0)")
    parser.add_argument("--trees", type=int, default=100, help="(default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="how many (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=300, help="seconds (default: %(default)g)")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; 1 unless deep forests of 100 trees keep what is promised of them."""
    _warm_up()
    lines: list[dict[str, Any]] = []
    for n_rows in arguments.rows or (100, 1000):
        for dataset in arguments.dataset or DATASETS:
            for depth in arguments.depth or (0,):
                one = Run(dataset, depth or None, arguments.trees, n_rows)
                runs = [dataclasses.replace(one, seed=s) for s in range(arguments.seeds)]
                found = [_measure(each, arguments.budget) for each in runs]
                lines.append(_line(one, found))
                print(lines[-1], flush=True)
    table = pd.DataFrame(lines)
    print(table.to_string(index=False))
    deep = table[(table["depth"] == "none") & (arguments.trees >= 100)]
    small, large = deep[deep["rows"] <= 100], deep[deep["rows"] > 100]
    kept = (
        bool((small["in cell"] == 1).all())
        and bool((small["seconds"] <= 30).all())
        and bool((large["own index"] >= 0.9).all())
        and bool((large["error"] <= 0.001).all())
    )
    return int(not kept)


def _warm_up() -> None:
    """Compile the inner loops, so that no measurement includes it."""
    for depth, trees in ((None, 20), (2, 5)):
        _measure(Run("compas", depth, trees, 40), 20)


def _measure(one: Run, budget: float) -> dict[str, Any]:
    from sklearn.ensemble import RandomForestClassifier

    split, schema = split_of(one), schema_of(one.dataset, "paper")
    forest = RandomForestClassifier(one.n_trees, max_depth=one.max_depth, random_state=one.seed)
    model = gl.read(forest.fit(split.train, split.train_labels))
    started, processor = time.perf_counter(), time.process_time()
    try:
        rec = gl.reconstruct(
            model, schema, multiplicities="known", budget_seconds=budget, seed=one.seed
        )
    except GlassleakError as error:
        return {"status": type(error).__name__}
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    truth, got = split.train.to_numpy(), rec.table.to_numpy()
    labels = rec.labels == split.train_labels.to_numpy()
    drawn = model.bagging.multiplicities(one.n_trees, one.n_rows).T > 0
    cell = ((model.apply(truth) == model.apply(got)) | ~drawn).all(axis=1)
    return {
        "status": rec.status,
        "exact": rec.exact,
        "own index": float(((truth == got).all(axis=1) & labels).mean()),
        "in cell": float((cell & labels).mean()),
        "proved": (rec.certificate.certain_rows + rec.certificate.certain_in_part) / one.n_rows,
        "error": gl.reconstruction_error(split.train, rec.table, schema),
        "seconds": seconds,
        "processor seconds": processor,
    }


def _line(one: Run, found: list[dict[str, Any]]) -> dict[str, Any]:
    solved = [f for f in found if "error" in f]
    line: dict[str, Any] = {
        "dataset": one.dataset,
        "rows": one.n_rows,
        "depth": one.max_depth or "none",
        "exact": f"{sum(f['exact'] for f in solved)}/{len(found)}",
    }
    for key in ("own index", "in cell", "proved", "error", "seconds", "processor seconds"):
        values = [f[key] for f in solved]
        line[key] = round(float(np.mean(values)), 4) if values else float("nan")
    published = PUBLISHED_SECONDS.get((one.dataset, one.n_rows))
    line["authors' code, s"] = published if one.max_depth is None else None
    return line
