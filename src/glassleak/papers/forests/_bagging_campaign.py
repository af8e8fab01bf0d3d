"""The runs with bagging, taking from their own log what is still good."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from glassleak._version import __version__
from glassleak.papers import _campaign
from glassleak.papers._paper import Options
from glassleak.papers._run_log import Record
from glassleak.papers.forests._bagging_runs import BaggedRun, execute

Results: TypeAlias = dict[BaggedRun, Record]
BUDGET_SECONDS = {"quick": 15.0, "full": 60.0}


def carry_out(runs: Sequence[BaggedRun], options: Options, log: Path) -> Results:
    """Every run's record; `log` is that of the runs without bagging, beside which ours lies."""
    budget = options.budget_seconds or BUDGET_SECONDS[options.preset]

    def still_good(run: BaggedRun, record: Record) -> bool:
        enough = run.what == "guess" or float(record.get("budget_seconds", 0)) >= budget
        return record.get("glassleak") == __version__ and "error" in record and enough

    # Runs with and without bagging have different fields, so they have logs of their own.
    own = log.with_name(f"{log.stem}-bagging{log.suffix}")
    return _campaign.carry_out(runs, lambda run: execute(run, budget), still_good, options, own)


def mean(results: Results, name: str, **fields: Any) -> float | None:
    """Mean over the runs with these fields that have a value."""
    values = errors(results, name, **fields)
    return float(np.mean(values)) if values else None


def errors(results: Results, name: str, **fields: Any) -> list[float]:
    """The values of the runs with these fields."""
    return [r[name] for r in chosen(results, **fields) if r.get(name) is not None]


def unsolved(results: Results, **fields: Any) -> str:
    """How many of the runs with these fields found no table, of how many."""
    records = chosen(results, **fields)
    return f"{sum(r['error'] is None for r in records)}/{len(records)}"


def chosen(results: Results, **fields: Any) -> list[Record]:
    """The records of the runs with these fields."""
    return [
        record
        for run, record in results.items()
        if all(getattr(run, key) == value for key, value in fields.items())
    ]
