"""Train one model as the paper did and measure what it leaves uncertain."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from glassleak import datasets
from glassleak._version import __version__
from glassleak.papers import _campaign
from glassleak.papers._paper import Options
from glassleak.papers._run_log import Record
from glassleak.papers.uncertainty._setting import ADULT_SHARE, TEST_SHARE, Run, budget_of
from glassleak.papers.uncertainty._summary import Results
from glassleak.readers import read
from glassleak.schema import Schema
from glassleak.uncertainty import uncertainty

_OPTIMAL = ("optimal_tree", "optimal_rules")


def carry_out(runs: Sequence[Run], options: Options, log_path: Path) -> Results:
    """Every run's record, from the log where it is still good."""
    budget = budget_of(options)

    def still_good(_run: Run, record: Record) -> bool:
        if record.get("glassleak") != __version__ or "exposure" not in record:
            return False
        # More time can only help where optimality was not proved.
        return bool(record["certified"]) or float(record["budget_seconds"]) >= budget

    return _campaign.carry_out(
        runs, lambda run: execute(run, budget), still_good, options, log_path
    )


def execute(run: Run, budget_seconds: float) -> Record:
    """Carry out one run.

    Returns
    -------
    dict
        The run's own fields; ``size``, accuracies, ``dist_g`` with independent columns (the
        paper's convention) and ``dist_g_valid`` with valid profiles; ``exposure``: pairs of people
        and the share of uncertainty that remains about each; ``certified``: whether an optimal
        learner proved optimality (true for the others, which promise nothing).
    """
    from sklearn.model_selection import train_test_split

    table, labels, schema = _data(run.dataset)
    train, test, train_labels, test_labels = train_test_split(
        table, labels, test_size=TEST_SHARE, random_state=run.seed
    )
    started = time.perf_counter()
    fitted, certified = _fit(run, train, train_labels, budget_seconds)
    seconds = time.perf_counter() - started
    model = read(fitted)
    paper = uncertainty(model, schema, columns_independent=True)
    valid = uncertainty(model, schema)
    leaves = paper.per_leaf
    assert leaves is not None
    return run.key | {
        "size": len(leaves) - 1,
        "train_accuracy": float(fitted.score(train, train_labels)),
        "test_accuracy": float(fitted.score(test, test_labels)),
        "dist_g": paper.dist_g,
        "dist_g_valid": valid.dist_g,
        "exact": paper.exact and valid.exact,
        "exposure": [
            [int(people), float(share)]
            for people, share in zip(leaves["rows"], leaves["share"], strict=True)
            if people
        ],
        "single": int(leaves["rows"][leaves["bits"] == 0].sum()),
        "certified": certified,
        "seconds": round(seconds, 4),
        "budget_seconds": budget_seconds,
        "glassleak": __version__,
        "processors": os.cpu_count(),
    }


@functools.cache
def _data(dataset: str) -> tuple[pd.DataFrame, pd.Series, Schema]:
    source = datasets.load(dataset, variant="corels")
    frame = source.frame
    if dataset == "adult":
        frame = frame.sample(frac=ADULT_SHARE, random_state=0, ignore_index=True)
    return frame.iloc[:, :-1], frame.iloc[:, -1], source.schema


def _fit(run: Run, table: pd.DataFrame, labels: pd.Series, budget: float) -> tuple[Any, bool]:
    """The fitted model, and whether an optimal one is proved to be."""
    least = max(1, int(run.min_support * len(table)))
    if run.learner == "greedy_tree":
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(
            max_depth=run.max_depth, min_samples_leaf=least, random_state=1 + run.seed
        )
        return tree.fit(table, labels), True
    if run.learner == "optimal_tree":
        from glassleak.learners import OptimalTreeClassifier

        best = OptimalTreeClassifier(
            max_depth=run.max_depth, min_support=least, budget_seconds=budget
        ).fit(table, labels)
        return best, best.certificate_.status == "optimal"
    if run.learner == "greedy_rules":
        from glassleak.learners import GreedyRuleListClassifier

        # What the authors' program does: the purest rule, mined over the whole table.
        rules = GreedyRuleListClassifier(
            max_length=run.max_depth, min_support=least, criterion="captured", support_of="table"
        )
        return rules.fit(table, labels), True
    from glassleak.learners import OptimalRuleListClassifier

    shortest = OptimalRuleListClassifier(
        max_length=run.max_depth, min_support=least, support_of="table", budget_seconds=budget
    ).fit(table, labels)
    return shortest, shortest.certificate_.status == "optimal"
