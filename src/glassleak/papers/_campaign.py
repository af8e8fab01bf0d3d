"""Carry out a list of runs, taking from the log what is there already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from glassleak.papers._paper import Options
from glassleak.papers._run_log import Record, RunLog


class AnyRun(Protocol):
    """What every paper's run has; a frozen dataclass, so that it can be looked up."""

    @property
    def key(self) -> dict[str, object]:
        """The fields that tell runs apart."""
        ...

    @property
    def label(self) -> str:
        """For the progress line."""
        ...

    def __hash__(self) -> int: ...


R = TypeVar("R", bound=AnyRun)


def carry_out(
    runs: Sequence[R],
    execute: Callable[[R], Record],
    still_good: Callable[[R, Record], bool],
    options: Options,
    log_path: Path,
) -> dict[R, Record]:
    """Every run's record.

    Parameters
    ----------
    runs : sequence
    execute : callable
        Carries out one run; the record it returns must hold the run's key.
    still_good : callable
        Whether a record from the log may be used again.
    options : Options
    log_path : Path
    """
    if not runs:
        return {}
    log = RunLog(log_path, tuple(runs[0].key))
    results: dict[R, Record] = {}
    for done, run in enumerate(runs):
        options.progress(done, len(runs), run.label)
        record = log.get(run.key)
        if record is None or not still_good(run, record):
            record = execute(run)
            log.add(record)
        results[run] = record
    options.progress(len(runs), len(runs), "done")
    return results
