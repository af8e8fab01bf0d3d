"""Means over seeds, the notes every table needs, and the comparison run by run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassleak.papers._paper import Options
from glassleak.papers._run_log import Record
from glassleak.papers._sheet import Column, Sheet, ratio
from glassleak.papers.forests._campaign import Results
from glassleak.papers.forests._execute import NOT_SOLVED
from glassleak.papers.forests._expected import Line, published_runs
from glassleak.papers.forests._plan import PUBLISHED, budget_of, seeds_of
from glassleak.papers.forests._setting import Run


@dataclass(frozen=True)
class Summary:
    """Several runs together; as in the paper, means are over the solved ones."""

    records: tuple[Record, ...]

    @property
    def solved(self) -> list[Record]:
        return [r for r in self.records if r["status"] != NOT_SOLVED]

    @property
    def unsolved(self) -> str | None:
        """How many runs found no table, of how many; ``None`` if there was no run."""
        if not self.records:
            return None
        return f"{len(self.records) - len(self.solved)}/{len(self.records)}"

    def mean(self, field: str) -> float | None:
        return self._apply(np.mean, field)

    def std(self, field: str) -> float | None:
        """Spread of the solved runs; ``None`` for a single one."""
        return self._apply(np.std, field) if len(self.solved) > 1 else None

    def low(self, field: str) -> float | None:
        return self._apply(np.min, field)

    def high(self, field: str) -> float | None:
        return self._apply(np.max, field)

    def or_not_solved(self, value: float | None) -> float | str | None:
        """`value`, or in words that no run was solved."""
        return NOT_SOLVED if self.records and not self.solved else value

    def _apply(self, how: Any, field: str) -> float | None:
        values = [r[field] for r in self.solved if r.get(field) is not None]
        return float(how(values)) if values else None


def summarise(results: Results, **fields: Any) -> Summary:
    """The runs with these fields."""
    chosen = [
        record
        for run, record in results.items()
        if all(getattr(run, name) == value for name, value in fields.items())
    ]
    return Summary(tuple(chosen))


def depth_text(depth: int | None) -> str:
    return "none" if depth is None else str(depth)


def notes(runs: Iterable[Run], options: Options) -> tuple[str, ...]:
    """How the two sides were measured."""
    listed = list(runs)
    seeds = ", ".join(map(str, seeds_of(options)))
    ours = {budget_of(r, options) for r in listed if r.formulation == "auto"}
    allowed = f"{_either(ours)} s for each run"
    lines = [
        "Published: five seeds, 16 threads (Intel Platinum 8260), hours allowed for each run.",
        f"Ours: preset {options.preset}, seed(s) {seeds}, {os.cpu_count()} processors, {allowed}.",
        "Our time includes the proof that the table is the only one, or the search for others.",
        'Means are over runs that found a table; "sure" rows are in every table with these counts.',
    ]
    published = {budget_of(r, options) for r in listed if r.formulation in PUBLISHED}
    if published:
        lines.append(
            "rows-cp and rows-milp are the published formulations run again (OR-Tools CP-SAT, and "
            f"HiGHS where the paper had Gurobi), {_either(published)} s allowed."
        )
    if any(run.schema == "tight" for run in listed):
        lines.append(
            'The paper takes only education for a one-hot attribute of Adult; "tight" is the '
            "dataset's own schema, where occupation and work class are attributes too."
        )
    return tuple(lines)


def _either(budgets: set[float]) -> str:
    return " or ".join(f"{seconds:g}" for seconds in sorted(budgets))


def run_by_run(results: Results) -> Sheet | None:
    """Ours against the authors' own run on the same forest; ``None`` if those are not at hand."""
    published = published_runs()
    if published is None:
        return None
    rows = []
    for run, record in results.items():
        if run.formulation == "random" or run.schema == "tight":
            continue
        theirs = published.same_as(run)
        # Tables 6 to 8 come without runs.
        if theirs is None or run.n_rows != 100:
            continue
        rows.append(_compared(run, record, theirs))
    if not rows:
        return None
    same = sum(row["same_forest"] == "yes" for row in rows)
    both = [r for r in rows if r["published_error"] is not None and r["error"] is not None]
    better = sum(r["error"] <= r["published_error"] + 1e-12 for r in both)
    only = sum(r["published_error"] is None and r["error"] is not None for r in rows)
    return Sheet(
        "Run by run against the authors' own runs",
        _RUN_COLUMNS,
        tuple(rows),
        (
            f"The forest's test accuracy is the published one in {same} of {len(rows)} runs.",
            f"Our error is no larger in {better} of {len(both)} runs that both solved.",
            f"Ours solved {only} runs that the authors' did not.",
        ),
    )


_RUN_COLUMNS = (
    Column("dataset", "dataset"),
    Column("max_depth", "depth"),
    Column("n_trees", "trees"),
    Column("seed", "seed"),
    Column("formulation", "formulation"),
    Column("published_error", "error: paper", "error"),
    Column("error", "ours", "error"),
    Column("published_seconds", "seconds: paper", "seconds"),
    Column("seconds", "ours", "seconds"),
    Column("ratio", "ratio", "ratio"),
    Column("published_accuracy", "test accuracy: paper", "error"),
    Column("accuracy", "ours", "error"),
    Column("same_forest", "same"),
)


def _compared(run: Run, record: Record, theirs: Line) -> dict[str, Any]:
    solved = theirs["status"] != "UNKNOWN"
    same = abs(record["test_accuracy"] - theirs["test_accuracy"]) < 1e-9
    return {
        "dataset": run.dataset,
        "max_depth": depth_text(run.max_depth),
        "n_trees": run.n_trees,
        "seed": run.seed,
        "formulation": run.formulation,
        "published_error": theirs["error"] if solved else None,
        "error": record["error"],
        "published_seconds": theirs["seconds_16_threads"],
        "seconds": record["seconds"],
        "ratio": ratio(theirs["seconds_16_threads"], record["seconds"]),
        "published_accuracy": theirs["test_accuracy"],
        "accuracy": record["test_accuracy"],
        "same_forest": "yes" if same else "no",
    }
