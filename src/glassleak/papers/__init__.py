"""The published experiments, one command each.

Nothing of the package depends on this: it stands beside the data flow, uses the public interface
like any user, and compares what comes out with what was printed.
"""

from __future__ import annotations

from glassleak.papers import dp, forests, maxent, uncertainty
from glassleak.papers._paper import Item, Options, Output, Paper, Preset
from glassleak.papers._run_log import RunLogError
from glassleak.papers._sheet import Column, Sheet

__all__ = [
    "PAPERS",
    "Column",
    "Item",
    "Options",
    "Output",
    "Paper",
    "Preset",
    "RunLogError",
    "Sheet",
]

PAPERS: dict[str, Paper] = {
    paper.name: paper for paper in (dp.PAPER, forests.PAPER, maxent.PAPER, uncertainty.PAPER)
}
