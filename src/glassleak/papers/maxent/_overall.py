"""Figures 3, 4 and 6: how far the estimate is from the truth, over all people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak.papers._paper import Options, Output
from glassleak.papers._plot import GREY, SHADES, panels
from glassleak.papers._run_log import Record
from glassleak.papers._sheet import Column, Sheet
from glassleak.papers.maxent._execute import carry_out
from glassleak.papers.maxent._expected import CONSTRAINTS
from glassleak.papers.maxent._notes import kind_of, notes
from glassleak.papers.maxent._setting import MEASURES, TITLES, Level, Run, run_of, sizes_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = (
    Column("tree", "tree"),
    Column("leaves", "leaves", "count"),
    Column("published_leaves", "paper", "count"),
    Column("told", "the adversary is told"),
    Column("d_overall", "overall divergence", "error"),
    Column("likely", "people ≥ 90 %", "count"),
    Column("likely_right", "of them right", "count"),
    Column("kind", "certificate"),
    Column("active", "split facts that bind", "count"),
    Column("gap", "gap (nats)", "text", terminal=False),
    Column("violation", "violation", "text", terminal=False),
    Column("seconds", "seconds", "seconds"),
)
_TOLD: dict[tuple[Level, bool], str] = {
    ("labels", False): "labels",
    ("labels", True): "labels, splits",
    ("rates", False): "error rates",
    ("rates", True): "error rates, splits",
    ("counts", False): "class counts",
    ("counts", True): "class counts, splits",
}
_SIZES = {"paper": "trees of the paper's size", "whole": "trees grown to the end"}
Case = tuple[Level, bool]


def figure_3(options: Options, log: Path) -> Output:
    """The effect of the error rate."""
    return _compare(
        options, log, "Figure 3: the effect of the error rate",
        (("labels", False), ("rates", False), ("counts", False)),
        "The paper's figure has the first two, with implicit information: of labels alone even "
        "that leaves every value equally likely (closed form), and at error rates it changes "
        "little (Figure 6).  Class counts, which scikit-learn publishes, tell most.",
    )  # fmt: skip


def figure_4(options: Options, log: Path) -> Output:
    """The effect of the attribute selection measure."""
    return _compare(
        options, log, "Figure 4: the effect of the attribute selection measure",
        (("rates", False), ("counts", False)),
        "As in the paper, information gain discloses more than the Gini index; the reason is the "
        "size of the trees: grown to the end (full preset) both disclose the same, and with class "
        "counts everything.",
    )  # fmt: skip


def figure_6(options: Options, log: Path) -> Output:
    """The effect of implicit information."""
    return _compare(
        options, log, "Figure 6: the effect of implicit information",
        (("rates", False), ("rates", True), ("counts", False), ("counts", True)),
        "With error rates of 16 classes the problem is not convex: its solutions are local optima, "
        "ours as the paper's.  With class counts it is convex, and solved to a proved maximum.",
    )  # fmt: skip


def _compare(
    options: Options, log: Path, title: str, cases: tuple[Case, ...], remark: str
) -> Output:
    runs = [
        run_of(measure, level, implicit=implicit, options=options, size=size)
        for size in sizes_of(options)
        for measure in MEASURES
        for level, implicit in cases
    ]
    results = carry_out(runs, options, log)
    rows = tuple(_row(run, record) for run, record in results.items())
    sheet = Sheet(title, _COLUMNS, rows, (*notes(results, options), remark))
    return Output(sheet, lambda: _draw(results, cases))


def _row(run: Run, record: Record) -> dict[str, Any]:
    paper = run.size == "paper"
    return {
        "tree": TITLES[run.measure] + ("" if paper else ", grown to the end"),
        "leaves": record["leaves"],
        "published_leaves": CONSTRAINTS[run.measure].rate if paper else None,
        "told": _TOLD[run.level, run.implicit],
        "d_overall": record.get("d_overall", record["status"]),
        "likely": record.get("likely"),
        "likely_right": record.get("likely_right"),
        "kind": kind_of(record),
        "active": record.get("active"),
        "gap": _small(record.get("gap")),
        "violation": _small(record.get("violation")),
        "seconds": record["seconds"],
    }


def _small(value: float | None) -> str | None:
    return None if value is None else f"{value:.1e}"


def _draw(results: Mapping[Run, Record], cases: tuple[Case, ...]) -> Figure:
    sizes = list(dict.fromkeys(run.size for run in results))
    figure, axes = panels(len(sizes), width=4.6, height=3.2)
    shades = (SHADES[0], SHADES[2], SHADES[4], SHADES[5])
    top = max(r.get("d_overall") or 0.0 for r in results.values())
    found = {(run.size, run.measure, run.level, run.implicit): r for run, r in results.items()}
    for panel, size in zip(axes, sizes, strict=True):
        width = 0.8 / len(cases)
        for i, case in enumerate(cases):
            for at, measure in enumerate(MEASURES):
                record = found.get((size, measure, *case))
                where = at - 0.4 + width * (i + 0.5)
                if record is None:
                    panel.annotate("full preset", (where, 0), ha="center", va="bottom", fontsize=7,
                                   color=GREY, rotation=90, xytext=(0, 3),
                                   textcoords="offset points")  # fmt: skip
                    continue
                value = record.get("d_overall")
                panel.bar(where, value or 0.0, 0.92 * width, color=shades[i],
                          label=_TOLD[case] if at == 0 else None)  # fmt: skip
                text = "not solved" if value is None else f"{value:.3f}"
                panel.annotate(text, (where, value or 0.0), ha="center", va="bottom", fontsize=7,
                               xytext=(0, 1), textcoords="offset points")  # fmt: skip
        panel.set_xticks(range(len(MEASURES)), [TITLES[m] for m in MEASURES])
        panel.set_ylim(0, 1.12 * top)
        panel.grid(visible=False, axis="x")
        panel.set_axisbelow(True)
        panel.tick_params(axis="x", length=0)
        panel.set_title(
            "trees of the paper's size" if size == "paper" else "trees grown to the end"
        )
    axes[0].set_ylabel("overall divergence (nats)")
    handles, labels = axes[0].get_legend_handles_labels()
    columns = len(labels) if len(sizes) > 1 else min(len(labels), 3 - len(labels) // 4)
    figure.legend(handles, labels, loc="outside lower center", ncols=columns,
                  title="lower means more is disclosed").get_title().set_color(GREY)  # fmt: skip
    return figure
