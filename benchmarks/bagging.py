"""Does bagging protect?  Forests trained on bootstrap samples, which rows they drew not used.

N = 100 people unless said otherwise, the published samples, `RandomForestClassifier` with its
default bootstrap.  The published means (16 threads, hours allowed) are shown beside ours when
GLASSLEAK_REFERENCE names the folder that has them.
"""

from __future__ import annotations

import argparse
import itertools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import glassleak as gl
from benchmarks._bagging_figure import PEOPLE, TREES, draw
from glassleak.papers.forests._data import schema_of, split_of
from glassleak.papers.forests._setting import DATASETS, Run

NAME = "bagging"
HELP = "error and calibration on bootstrap forests, against the published figures"
# Largest mean errors with 100 trees of unlimited depth: (dataset, rows) -> error.
PROMISED = {
    ("compas", 100): 0.002,
    ("adult", 100): 0.006,
    ("default_credit", 100): 0.010,
    ("compas", 1000): 0.002,
    ("adult", 1000): 0.005,
}


@dataclass(frozen=True)
class Case:
    """One line of the result: a forest per seed."""

    dataset: str
    depth: int | None
    trees: int
    rows: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", action="append", choices=DATASETS, help="(default: all)")
    parser.add_argument(
        "--depth", type=int, action="append", help="0: unlimited (default: unlimited)"
    )
    parser.add_argument("--trees", type=int, action="append", help="(default: 100)")
    parser.add_argument("--rows", type=int, action="append", help="(default: 100)")
    parser.add_argument("--seeds", type=int, default=5, help="how many (default: %(default)s)")
    parser.add_argument("--first-seed", type=int, default=0, help="(default: %(default)s)")
    parser.add_argument("--budget", type=float, default=60, help="seconds (default: %(default)g)")
    parser.add_argument("--full", action="store_true", help="depths 2-10, 1,000 and 5,000 rows too")
    parser.add_argument("--growth", action="store_true",
                        help="1 to 100 trees, and 50 to 1,000 rows")  # fmt: skip
    parser.add_argument("--figure", type=Path, metavar="STEM",
                        help="draw error by trees and rows as STEM.svg and STEM.png")  # fmt: skip
    parser.add_argument("--csv", type=Path, help="also write one line per run here")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; 1 when a promise is broken."""
    reference = _published()
    lines: list[dict[str, Any]] = []
    runs: list[dict[str, Any]] = []
    claimed: list[float] = []
    right: list[bool] = []
    cases = _cases(arguments)
    for case in cases:
        found = []
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            one = _measure(case, seed, arguments.budget if case.rows <= 1000 else 300)
            claimed += one.pop("claimed")
            right += one.pop("right")
            found.append(one)
            runs.append({"seed": seed, **vars(case), **one})
            if arguments.csv:
                pd.DataFrame(runs).to_csv(arguments.csv, index=False)
        line = vars(case) | {key: float(np.mean([f[key] for f in found])) for key in found[0]}
        line["published"] = _mean(reference, case)
        line["ratio"] = line["error"] / line["published"] if line["published"] else None
        line["kept"] = _kept(case, line)
        lines.append(line)
        print({k: round(v, 5) if isinstance(v, float) else v for k, v in line.items()}, flush=True)
    print(pd.DataFrame(lines).round(5).to_string(index=False))
    print(_calibration(np.array(claimed), np.array(right)).to_string(index=False))
    if arguments.figure:
        draw(lines, arguments.figure)
    return int(any(line["kept"] is False for line in lines))


def _cases(arguments: argparse.Namespace) -> list[Case]:
    datasets = arguments.dataset or list(DATASETS)
    depths = [depth or None for depth in arguments.depth or [0]]
    cases = [
        Case(dataset, depth, trees, rows)
        for dataset in datasets
        for depth in depths
        for trees in arguments.trees or [100]
        for rows in arguments.rows or [100]
    ]
    if arguments.full:
        cases += [Case(d, depth, 100, 100) for d in datasets for depth in (2, 3, 4, 5, 10)]
        cases += [Case(d, None, 100, 1000) for d in datasets if d != "default_credit"]
        cases += [Case(d, None, 100, 5000) for d in datasets if d == "compas"]
    if arguments.growth:
        cases += [Case(d, None, trees, 100) for d in datasets for trees in TREES]
        cases += [Case(d, None, 100, rows) for d in datasets for rows in PEOPLE]
    return list(dict.fromkeys(cases))


def _measure(case: Case, seed: int, budget: float) -> dict[str, Any]:
    from sklearn.ensemble import RandomForestClassifier

    train, labels = _training_set(case, seed)
    schema = schema_of(case.dataset, "paper")
    forest = RandomForestClassifier(case.trees, max_depth=case.depth, random_state=seed)
    model = gl.read(forest.fit(train, labels))
    found = gl.reconstruct(
        model, schema, multiplicities="unknown", budget_seconds=budget, seed=seed
    )
    held = pd.Series(list(map(tuple, np.column_stack([train, labels])))).value_counts().to_dict()
    right = []
    for row, label in zip(found.table.to_numpy().tolist(), found.labels, strict=True):
        key = (*row, label)
        right.append(held.get(key, 0) > 0)
        held[key] = held.get(key, 0) - 1
    return {
        "error": gl.reconstruction_error(train, found.table, schema),
        "expected_error": found.details["expected_error"],
        "rows_right": float(np.mean(right)),
        "seconds": found.seconds,
        "claimed": found.confidence.tolist(),
        "right": right,
    }


def _training_set(case: Case, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    if case.rows <= 1500:
        split = split_of(Run(case.dataset, case.depth, case.trees, seed=seed, n_rows=case.rows))
        return split.train, split.train_labels
    # The published samples have 1,500 rows; larger tables come from the whole one.
    table = gl.datasets.load(case.dataset, variant="binary").frame
    sample = table.sample(n=case.rows, random_state=seed, ignore_index=True)
    return sample.iloc[:, :-1], sample.iloc[:, -1]


def _calibration(claimed: Any, right: Any) -> pd.DataFrame:
    """How often rows are right, by how sure they claim to be."""
    edges = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0001]
    lines = []
    for low, high in itertools.pairwise(edges):
        inside = (claimed >= low) & (claimed < high)
        if inside.any():
            lines.append(
                {
                    "claimed": f"{low:g}-{min(high, 1):g}",
                    "rows": int(inside.sum()),
                    "mean claim": round(float(claimed[inside].mean()), 3),
                    "right": round(float(right[inside].mean()), 3),
                }
            )
    return pd.DataFrame(lines)


def _kept(case: Case, line: dict[str, Any]) -> bool | None:
    if case.trees != 100:
        return None
    if case.depth is None:
        most = PROMISED.get((case.dataset, case.rows))
        return None if most is None else line["error"] <= most
    return None if line["ratio"] is None else line["ratio"] <= 0.5


def _published() -> pd.DataFrame | None:
    folder = os.environ.get("GLASSLEAK_REFERENCE")
    file = Path(folder or "", "reference", "forest_reconstruction_published.csv")
    return pd.read_csv(file) if folder and file.is_file() else None


def _mean(reference: pd.DataFrame | None, case: Case) -> float | None:
    if reference is None or case.rows != 100:
        return None
    depth = reference["max_depth"]
    same = reference[
        reference["bagging"]
        & (reference["method"] == "cp-sat")
        & (reference["dataset"] == case.dataset)
        & (depth.isna() if case.depth is None else depth == case.depth)
        & (reference["n_trees"] == case.trees)
    ]
    error = same["error"].mean()
    return None if pd.isna(error) else round(float(error), 5)
