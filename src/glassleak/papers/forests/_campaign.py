"""The runs of this paper, taking from the log what is still good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from glassleak._version import __version__
from glassleak.papers import _campaign
from glassleak.papers._paper import Options
from glassleak.papers._run_log import Record
from glassleak.papers.forests._execute import execute
from glassleak.papers.forests._setting import Run

Execute: TypeAlias = Callable[[Run, float], Record]
Results: TypeAlias = dict[Run, Record]

_RESULT_FIELDS = {"status", "seconds", "error"}


def carry_out(
    runs: Sequence[Run],
    budget_of: Callable[[Run], float],
    options: Options,
    log_path: Path,
    execute_run: Execute | None = None,
) -> Results:
    """Every run's record.

    A record from the log is used unless it comes from another version of glassleak, or more time
    is allowed now and could have given a better answer.

    Parameters
    ----------
    runs : sequence of Run
    budget_of : callable
        Seconds allowed for a run.
    options : Options
    log_path : Path
    execute_run : callable, optional
        `execute` unless a test says otherwise.
    """
    do = execute_run or execute
    return _campaign.carry_out(
        runs,
        lambda run: do(run, budget_of(run)),
        lambda run, record: _still_good(record, budget_of(run)),
        options,
        log_path,
    )


def _still_good(record: Record, budget_seconds: float) -> bool:
    if record.get("glassleak") != __version__ or not record.keys() >= _RESULT_FIELDS:
        return False
    if record.get("status") == "unique" or record.get("formulation") == "random":
        return True
    solved_as_published = record.get("formulation") != "auto" and record.get("error") is not None
    return solved_as_published or float(record.get("budget_seconds", 0)) >= budget_seconds
