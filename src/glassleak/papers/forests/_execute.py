"""Train one forest as the paper did, attack it, and write down what came out."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from typing import Any

from glassleak._version import __version__
from glassleak.errors import BudgetExhaustedError, ModelTooLargeError
from glassleak.papers._run_log import Record
from glassleak.papers.forests._data import Split, schema_of, split_of
from glassleak.papers.forests._setting import Attack, Run
from glassleak.readers import read
from glassleak.reconstruction import random_baseline, reconstruct, reconstruction_error, row_errors

NOT_SOLVED = "not solved"
BASELINE_REPEATS = 100


def execute(run: Run, budget_seconds: float) -> Record:
    """Carry out one run.

    Returns
    -------
    dict
        The run's own fields, ``status``, ``seconds``, ``error``, the forest's accuracies, what
        was proved, and the versions and budget it was made with.  A run that finds no table has
        the status ``"not solved"``, no error, and a ``reason``.
    """
    split = split_of(run)
    made_with = {
        "budget_seconds": budget_seconds,
        "glassleak": __version__,
        "processors": os.cpu_count(),
    }
    if run.formulation == "random":
        return run.key | _guess(run, split) | made_with
    _warm_up(run.formulation)
    forest, trained = _train(run, split)
    started = time.perf_counter()
    model = read(forest)
    reading = time.perf_counter() - started
    schema = schema_of(run.dataset, run.schema)
    record = run.key | made_with | _accuracies(run, split, forest)
    record |= {"training_seconds": round(trained, 4), "reading_seconds": round(reading, 4)}
    started = time.perf_counter()
    try:
        found = reconstruct(
            model, schema, formulation=run.formulation, budget_seconds=budget_seconds, seed=run.seed
        )
    except (BudgetExhaustedError, ModelTooLargeError) as error:
        seconds = round(time.perf_counter() - started, 4)
        return record | {"status": NOT_SOLVED, "seconds": seconds, "error": None,
                         "reason": str(error)}  # fmt: skip
    wrong = row_errors(split.train, found.table, schema)
    return record | {
        "status": found.status,
        "seconds": round(found.seconds, 4),
        "error": reconstruction_error(split.train, found.table, schema),
        "exact_rows": int((wrong == 0).sum()),
        "certain_rows": found.certificate.certain_rows,
        "certain_in_part": found.certificate.certain_in_part,
        "proof": found.certificate.proof,
        "details": _plain(found.details),
    }


def _train(run: Run, split: Split) -> tuple[Any, float]:
    import sklearn.ensemble

    forest = sklearn.ensemble.RandomForestClassifier(
        n_estimators=run.n_trees, max_depth=run.max_depth, random_state=run.seed, bootstrap=False
    )
    started = time.perf_counter()
    forest.fit(split.train, split.train_labels)
    return forest, time.perf_counter() - started


def _accuracies(run: Run, split: Split, forest: Any) -> Record:
    """On the training set, the rest of the sample, and (for Tables 6 to 8) of the whole table."""
    scaling = run.max_depth is None and run.n_trees == 100
    return {
        "train_accuracy": forest.score(split.train, split.train_labels),
        "test_accuracy": forest.score(split.others, split.other_labels)
        if len(split.others)
        else None,
        "table_accuracy": forest.score(split.elsewhere, split.elsewhere_labels)
        if scaling
        else None,
    }


def _guess(run: Run, split: Split) -> Record:
    started = time.perf_counter()
    baseline = random_baseline(
        None, schema_of(run.dataset, run.schema), split.train, BASELINE_REPEATS, run.seed
    )
    return {
        "status": "likely",
        "seconds": round(time.perf_counter() - started, 4),
        "error": baseline.mean,
    }


@functools.cache
def _warm_up(formulation: Attack) -> None:
    """Load and compile everything once, so that no run pays for it."""
    tiny = Run("adult", 2, 2, n_rows=10, formulation=formulation)
    forest, _ = _train(tiny, split_of(tiny))
    # Without a table everything has been loaded all the same.
    with contextlib.suppress(BudgetExhaustedError):
        reconstruct(
            read(forest), schema_of("adult", "paper"), formulation=formulation, budget_seconds=5
        )


def _plain(details: dict[str, Any]) -> dict[str, Any]:
    """What JSON can carry of the details."""
    kinds = (str, int, float, bool, list, type(None))
    return {name: value for name, value in details.items() if isinstance(value, kinds)}
