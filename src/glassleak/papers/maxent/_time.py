"""Figure 9: running time, and the memory the text reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak.papers._paper import Options, Output
from glassleak.papers._plot import GREY, SHADES, panels, plain_ticks
from glassleak.papers._run_log import Record
from glassleak.papers._sheet import Column, Sheet
from glassleak.papers.maxent._execute import carry_out
from glassleak.papers.maxent._expected import CONSTRAINTS
from glassleak.papers.maxent._notes import kind_of, notes
from glassleak.papers.maxent._setting import MEASURES, TITLES, Level, Run, run_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The paper's three cases, and class counts, which it does not have.
_CASES: tuple[tuple[str, Level, bool], ...] = (
    ("All Included", "rates", True),
    ("No Implicit", "rates", False),
    ("No Error Rate", "labels", True),
    ("class counts, all", "counts", True),
)


def figure_9(options: Options, log: Path) -> Output:
    """Seconds and memory for every case."""
    runs = [
        run_of(measure, level, implicit=implicit, options=options)
        for measure in MEASURES
        for _, level, implicit in _CASES
    ]
    results = carry_out(runs, options, log)
    names = {(level, implicit): name for name, level, implicit in _CASES}
    rows = tuple(_row(names[run.level, run.implicit], run, r) for run, r in results.items())
    columns = (
        Column("tree", "tree"),
        Column("case", "case"),
        Column("seconds", "seconds", "seconds"),
        Column("kind", "certificate"),
        Column("starts", "starting points", "count"),
        Column("peak_mb", "MB, whole process", "count"),
        Column("paper_mb", "paper MB", "count"),
    )
    remark = (
        "The paper prints memory (1.2 and 2.5 GB) but no times; it says that All Included takes "
        "longer than No Implicit and far less than No Error Rate.  Here No Error Rate has a closed "
        "form.  Seconds are for everything from the table of people to the estimate; memory is the "
        "most the whole process had used by then, Python and all libraries included."
    )
    sheet = Sheet(
        "Figure 9: running time and memory", columns, rows, (*notes(results, options), remark)
    )
    return Output(sheet, lambda: _draw(results))


def _row(case: str, run: Run, record: Record) -> dict[str, Any]:
    paper = run.level != "counts"
    return {
        "tree": TITLES[run.measure],
        "case": case,
        "seconds": record["seconds"] if record["seconds"] is not None else record["status"],
        "kind": kind_of(record),
        "starts": run.starts,
        "peak_mb": record.get("peak_mb"),
        "paper_mb": CONSTRAINTS[run.measure].memory_gb * 1000 if paper else None,
    }


def _draw(results: Mapping[Run, Record]) -> Figure:
    figure, axes = panels(1, width=5.6, height=3.2)
    panel = axes[0]
    found = {(run.measure, run.level, run.implicit): r for run, r in results.items()}
    shades = (SHADES[4], SHADES[1], SHADES[0], SHADES[2])
    for i, (name, level, implicit) in enumerate(_CASES):
        for at, measure in enumerate(MEASURES):
            record = found.get((measure, level, implicit))
            where = at - 0.3 + 0.2 * i
            if record is None:
                panel.annotate("full preset", (where, 0.022), ha="center", va="bottom", fontsize=7,
                               color=GREY, rotation=90)  # fmt: skip
                continue
            seconds = record["seconds"]
            label = name if at == 0 else None
            panel.bar(where, seconds or 0.0, 0.18, color=shades[i], label=label)
            text = "not solved" if seconds is None else f"{seconds:.2g}"
            panel.annotate(text, (where, seconds or 0.02), ha="center", va="bottom", fontsize=7,
                           xytext=(0, 1), textcoords="offset points")  # fmt: skip
    panel.set_yscale("log")
    longest = max(r["seconds"] or 0.1 for r in results.values())
    panel.set_ylim(0.02, 4 * longest)
    plain_ticks(panel.yaxis, [t for t in (0.1, 1, 10, 100, 1000) if t < 4 * longest])
    panel.set_xticks(range(len(MEASURES)), [TITLES[m] for m in MEASURES])
    panel.grid(visible=False, axis="x")
    panel.set_axisbelow(True)
    panel.set_ylabel("seconds")
    figure.legend(loc="outside lower center", ncols=len(_CASES))
    return figure
