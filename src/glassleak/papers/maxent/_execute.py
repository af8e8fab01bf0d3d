"""Ask what one tree says about the people, and write down what came out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glassleak._version import __version__
from glassleak.disclosure import disclosure
from glassleak.errors import MissingExtraError
from glassleak.papers import _campaign
from glassleak.papers._paper import Options
from glassleak.papers._run_log import Record
from glassleak.papers.maxent._data import numbers, people, tree
from glassleak.papers.maxent._setting import SENSITIVE, Run, budget_of, within_reach

# Figure 8 goes as far as this.
TOP = 500
NOT_SOLVED = "not solved"


def carry_out(runs: Sequence[Run], options: Options, log: Path) -> dict[Run, Record]:
    """Every run's record, from the log where it is still good.

    Runs the preset has no time for are left out.
    """
    budget = budget_of(options)
    return _campaign.carry_out(
        [run for run in runs if within_reach(run, options)],
        lambda run: execute(run, budget),
        lambda _run, record: still_good(record, budget),
        options,
        log,
    )


def execute(run: Run, budget_seconds: float) -> Record:
    """Carry out one run.

    Returns
    -------
    dict
        The run's own fields, the tree's numbers, divergences, what vouches for the estimate, and
        with implicit information the individual divergences it changes most.  A run that needs
        an optional solver that is not installed has the status ``"not solved"`` and a reason.
    """
    model, table = tree(run.measure, run.size), people()
    record: Record = run.key | numbers(model)
    record |= {"glassleak": __version__, "budget_seconds": budget_seconds,
               "processors": os.cpu_count()}  # fmt: skip
    try:
        found = disclosure(
            model, table, SENSITIVE, level=run.level, split_facts="auto" if run.implicit else False,
            bounds=False, starts=run.starts, budget_seconds=budget_seconds,
        )  # fmt: skip
    except MissingExtraError as error:
        return record | {"status": NOT_SOLVED, "seconds": None, "reason": str(error)}
    overall = found.overall
    record |= {
        "status": found.status,
        "seconds": round(found.seconds, 4),
        "peak_mb": _peak_mb(),
        "d_overall": overall.d_overall,
        "d_without": overall.d_overall_without_split_facts,
        "kind": found.certificate.kind,
        "gap": found.certificate.gap,
        "violation": found.certificate.violation,
        "candidates": found.certificate.candidates,
        "active": len(found.certificate.active),
        "likely": overall.likely,
        "likely_right": overall.likely_right,
    }
    if run.implicit:
        record |= _effects(found.top_effects(TOP))
    return record


def _effects(table: Any) -> dict[str, list[float]]:
    return {
        name: [round(float(v), 6) for v in table[name]]
        for name in ("difference", "with_split_facts", "without_split_facts", "mean_of_top")
    }


def _peak_mb() -> float | None:
    """Most memory the process has used so far, Python and all libraries included."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def still_good(record: Record, budget_seconds: float) -> bool:
    """Whether a record may be used again."""
    if record.get("glassleak") != __version__ or record.get("status") == NOT_SOLVED:
        return False
    finished = record.get("status") in ("optimal", "local")
    return finished or float(record.get("budget_seconds", 0)) >= budget_seconds
