"""What a reader must know to read the numbers rightly."""

from __future__ import annotations

from collections.abc import Mapping

from glassleak.papers._paper import Options
from glassleak.papers._run_log import Record
from glassleak.papers.maxent._expected import CONSTRAINTS, PEOPLE, QUASI_IDENTIFIERS, VALUES
from glassleak.papers.maxent._setting import TITLES, Run

_LEFT_OUT = (
    "Information gain with error rates and implicit information is left to the full preset: a "
    "local solver takes most of an hour."
)


def notes(results: Mapping[Run, Record], options: Options) -> tuple[str, ...]:
    """About the people and the trees."""
    who = (
        f"{PEOPLE:,} people with {QUASI_IDENTIFIERS:,} distinct quasi-identifiers and {VALUES} "
        "values of education, as in the paper.  Lower divergence means more disclosure; natural "
        "logarithm."
    )
    lines = [who]
    seen = set()
    for run, record in results.items():
        if run.size != "paper" or run.measure in seen:
            continue
        seen.add(run.measure)
        published = CONSTRAINTS[run.measure]
        lines.append(
            f"{TITLES[run.measure]}: {record['rate']:,} rate-, {record['label']:,} label- and "
            f"{record['internal']:,} internal-constraints; the paper's tree has "
            f"{published.rate:,}, {published.label:,} and {published.internal:,}."
        )
    lines.append(
        "The paper does not say when its trees stop growing, nor how it breaks ties, so ours are "
        "of about the same size and not the same."
    )
    for run, record in results.items():
        if record["status"] == "partial":
            lines.append(
                f"{run.label}: not finished within {record['budget_seconds']:g} s; some split is "
                f"still better than the chosen one by {record['violation']:.2g} per person."
            )
    missing = {record["reason"] for record in results.values() if record.get("reason")}
    if options.preset == "quick" and any(run.implicit for run in results):
        lines.append(_LEFT_OUT)
    return (*lines, *sorted(missing))


def kind_of(record: Record) -> str:
    """What vouches for a run's estimate, in words."""
    if "kind" not in record:
        return str(record["reason"])
    return f"{record['kind']}, not finished" if record["status"] == "partial" else record["kind"]
