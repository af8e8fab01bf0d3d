"""Do sanitised models predict the same, and what do their labels still prove?

First part: models of many kinds, each asked about everybody in the table and about inputs right at
and right above its thresholds, before and after.  Second part: of unconstrained extremely
randomised trees without any count, how many combinations of values and class must have been in
the training data, checked against it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

NAME = "sanitise"
HELP = "identical predictions of sanitised models, and what labels alone still prove"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", action="append", choices=("adult", "compas"),
                        help="(default: both)")  # fmt: skip
    parser.add_argument("--rows", type=int, action="append",
                        help="people, several in turn (default: 300, 1000, 3000)")  # fmt: skip
    parser.add_argument("--trees", type=int, action="append",
                        help="several are tried in turn (default: 10, 100)")  # fmt: skip
    parser.add_argument("--seeds", type=int, default=3, help="(default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Print both parts; 1 when an answer differs or something said to be certain is wrong."""
    from glassleak import datasets

    rows, trees = arguments.rows or [300, 1000, 3000], arguments.trees or [10, 100]
    same, proved = [], []
    for name in arguments.dataset or ("adult", "compas"):
        table = datasets.load(name, variant="binary")
        for seed in range(arguments.seeds):
            for n in rows:
                same += [{"dataset": name, "rows": n, "seed": seed} | line
                         for line in _identical(table, n, seed)]  # fmt: skip
                proved += [{"dataset": name, "rows": n, "trees": t, "seed": seed}
                           | _proved(table, n, t, seed) for t in trees]  # fmt: skip
    first, second = pd.DataFrame(same), pd.DataFrame(proved)
    print(first.groupby("model", sort=False)[["models", "answers", "different", "cpu seconds"]]
          .sum().round(2).to_string())  # fmt: skip
    columns = ["possible", "certain", "wrong", "real", "share", "cpu seconds"]
    print("\nwhat labels prove, mean over seeds")
    print(second.groupby(["dataset", "rows", "trees"])[columns].mean().round(3).to_string())
    kept = not first["different"].sum() and not second["wrong"].sum()
    print("\nno answer differs, nothing certain is wrong" if kept else "\nPROMISE BROKEN")
    return 0 if kept else 1


def _sampled(table: Any, n: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    people = table.data.sample(n, random_state=seed)
    return people, table.target.loc[people.index]


def _identical(table: Any, n: int, seed: int) -> Iterator[dict[str, Any]]:
    import glassleak as gl
    from glassleak.sanitise import agreement

    data, target = _sampled(table, n, seed)
    for name, model in _models(seed):
        model.fit(data, target)
        started = time.process_time()
        clean = gl.sanitise(model)
        seconds = time.process_time() - started
        found = agreement(model, clean, table.data, seed)
        assert found.rows is not None
        assert found.different_rows is not None
        yield {
            "model": name,
            "models": 1,
            "answers": found.inputs + found.rows,
            "different": found.different + found.different_rows,
            "cpu seconds": seconds,
        }


def _models(seed: int) -> list[tuple[str, Any]]:
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

    return [
        ("tree", DecisionTreeClassifier(random_state=seed)),
        ("shallow tree", DecisionTreeClassifier(max_depth=4, random_state=seed)),
        ("random tree", ExtraTreeClassifier(min_samples_leaf=5, random_state=seed)),
        ("forest", RandomForestClassifier(50, random_state=seed)),
        ("balanced forest", RandomForestClassifier(
            50, max_depth=5, class_weight="balanced", random_state=seed)),
        ("extra trees", ExtraTreesClassifier(50, random_state=seed)),
        ("shallow extra trees", ExtraTreesClassifier(50, max_depth=5, random_state=seed)),
        ("bag of trees", BaggingClassifier(
            DecisionTreeClassifier(max_depth=6), 30, max_features=0.7, random_state=seed)),
    ]  # fmt: skip


def _proved(table: Any, n: int, trees: int, seed: int) -> dict[str, Any]:
    from sklearn.ensemble import ExtraTreesClassifier

    import glassleak as gl
    from glassleak.reconstruction import presence

    data, target = _sampled(table, n, seed)
    model = gl.read(gl.sanitise(ExtraTreesClassifier(trees, random_state=seed).fit(data, target)))
    started = time.process_time()
    found = presence(model, table.schema)
    seconds = time.process_time() - started
    codes = {label: i for i, label in enumerate(model.classes)}
    numbers = np.array([codes[label] for label in target.tolist()])
    real = {tuple(row) for row in np.column_stack([data, numbers]).astype(float).tolist()}
    said = np.column_stack([found.table, found.labels]).tolist()
    return {
        "possible": found.possible,
        "certain": found.certain,
        "wrong": sum(tuple(row) not in real for row in said),
        "real": len(real),
        "share": found.certain / len(real),
        "cpu seconds": seconds,
    }
