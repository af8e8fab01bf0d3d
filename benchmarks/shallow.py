"""Shallow forests, where many tables fit: does the central one beat the first one found?

N = 100 people, the published samples.  Every forest is attacked twice with the same seed: once for
the first consistent table, once for the sampled one in the middle of the others.  Published means
are shown beside them when GLASSLEAK_REFERENCE names the folder that has them.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import pandas as pd

import glassleak as gl
from glassleak.errors import BudgetExhaustedError
from glassleak.papers.forests._data import schema_of, split_of
from glassleak.papers.forests._setting import DATASETS, Run

NAME = "shallow"
HELP = "error of the central table against the first one found, and the published one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", action="append", choices=DATASETS, help="(default: all)")
    parser.add_argument("--depth", type=int, action="append", help="(default: 2 and 3)")
    parser.add_argument("--trees", type=int, default=100, help="(default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="how many (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=60, help="seconds (default: %(default)g)")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; 1 when a forest is not solved or the centre does not help on average."""
    reference = _published()
    rows: list[dict[str, Any]] = []
    for dataset in arguments.dataset or DATASETS:
        for depth in arguments.depth or (2, 3):
            runs = [Run(dataset, depth, arguments.trees, seed=s) for s in range(arguments.seeds)]
            found = [_measure(one, arguments.budget) for one in runs]
            solved = [f for f in found if f is not None]
            line = {"dataset": dataset, "depth": depth, "solved": f"{len(solved)}/{len(runs)}"}
            for key in ("first", "central", "certain rows", "seconds"):
                mean = sum(f[key] for f in solved) / len(solved) if solved else float("nan")
                line[key] = round(mean, 4)
            line["ratio"] = round(line["central"] / line["first"], 3) if line["first"] else 1.0
            line["published"] = _mean(reference, dataset, depth, arguments.trees)
            rows.append(line)
            print(line, flush=True)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    unsolved = table["solved"].map(lambda s: s.split("/")[0] != s.split("/")[1]).any()
    return int(bool(unsolved) or table["central"].mean() > table["first"].mean())


def _measure(one: Run, budget: float) -> dict[str, float] | None:
    from sklearn.ensemble import RandomForestClassifier

    split, schema = split_of(one), schema_of(one.dataset, "paper")
    forest = RandomForestClassifier(
        one.n_trees, max_depth=one.max_depth, bootstrap=False, random_state=one.seed
    )
    model = gl.read(forest.fit(split.train, split.train_labels))
    try:
        central = gl.reconstruct(model, schema, budget_seconds=budget, seed=one.seed)
        first = gl.reconstruct(model, schema, budget_seconds=budget, seed=one.seed, central=False)
    except BudgetExhaustedError:
        return None
    return {
        "first": gl.reconstruction_error(split.train, first.table, schema),
        "central": gl.reconstruction_error(split.train, central.table, schema),
        "certain rows": central.certificate.certain_rows,
        "seconds": central.seconds,
    }


def _published() -> pd.DataFrame | None:
    folder = os.environ.get("GLASSLEAK_REFERENCE")
    file = Path(folder or "", "reference", "forest_reconstruction_published.csv")
    return pd.read_csv(file) if folder and file.is_file() else None


def _mean(reference: pd.DataFrame | None, dataset: str, depth: int, trees: int) -> float | None:
    if reference is None:
        return None
    same = reference[
        ~reference["bagging"]
        & (reference["method"] == "cp-sat")
        & (reference["dataset"] == dataset)
        & (reference["max_depth"] == depth)
        & (reference["n_trees"] == trees)
    ]
    return round(float(same["error"].mean()), 4) if len(same) else None
