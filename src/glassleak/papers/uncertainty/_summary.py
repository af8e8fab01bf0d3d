"""Means over seeds, and what a reader must know about them."""

from __future__ import annotations

from typing import Any, TypeAlias

from glassleak.papers._paper import Options
from glassleak.papers._run_log import Record
from glassleak.papers.uncertainty._setting import Run, budget_of, seeds_of

Results: TypeAlias = dict[Run, Record]

_NOTES = tuple(
    """\
Dist_G is the share of uncertainty that remains: 1 is a model that says nothing, 0 one that gives \
its training set away.  (The paper calls it entropy reduction ratio.)
'Dist_G' is by the paper's convention of independent columns, where one-hot columns may take any \
values; 'valid profiles' counts only people who can exist.
Adult is a random sample of a tenth of the table, as in the paper, whose own draw is not known.
Optimal trees and rule lists come from glassleak's own searches instead of DL8.5 and CORELS: the \
same optimum, but ties may be broken differently.""".splitlines()
)


def mean(results: Results, field: str, **fields: Any) -> float | None:
    """Mean of `field` over the runs with these fields."""
    found = [
        record[field]
        for run, record in results.items()
        if record.get(field) is not None and all(getattr(run, k) == v for k, v in fields.items())
    ]
    return sum(found) / len(found) if found else None


def notes(results: Results, options: Options) -> tuple[str, ...]:
    """How to read the numbers, and which of them are not what they should be."""
    more = [f"{len(results)} models; means over seeds {', '.join(map(str, seeds_of(options)))}."]
    open_ones = [run for run, record in results.items() if not record["certified"]]
    if open_ones:
        more.append(
            f"{len(open_ones)} optimal models were not certified within {budget_of(options):g} s "
            f"(deepest certified are shown with the rest): first {open_ones[0].label}."
        )
    return (*_NOTES, *more)
