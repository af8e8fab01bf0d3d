"""Figures 7 and 8: whom implicit information exposes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak.papers._paper import Options, Output
from glassleak.papers._plot import GREY, SHADES, panels
from glassleak.papers._run_log import Record
from glassleak.papers._sheet import Column, Sheet
from glassleak.papers.maxent._execute import carry_out
from glassleak.papers.maxent._expected import TOP_TEN
from glassleak.papers.maxent._notes import notes
from glassleak.papers.maxent._setting import MEASURES, TITLES, Level, Run, run_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEVELS: tuple[Level, ...] = ("rates", "counts")
_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def figure_7(options: Options, log: Path) -> Output:
    """The ten largest differences of individual divergence, information gain."""
    results = carry_out(
        [run_of("entropy", level, implicit=True, options=options) for level in _LEVELS],
        options,
        log,
    )
    by_level = {run.level: record for run, record in results.items()}
    rows = []
    for i, (near, far) in enumerate(TOP_TEN):
        row: dict[str, Any] = {
            "k": i + 1, "paper_difference": round(far - near, 3), "paper_with": near,
            "paper_without": far,
        }  # fmt: skip
        for level, record in by_level.items():
            for name in ("difference", "with_split_facts", "without_split_facts"):
                values = record.get(name)
                row[f"{level}_{name}"] = values[i] if values and i < len(values) else None
        rows.append(row)
    columns = [Column("k", "top", "count")]
    for key, title in (("paper", "paper"), ("rates", "error rates"), ("counts", "class counts")):
        suffixes = ("difference", "with", "without") if key == "paper" else (
            "difference", "with_split_facts", "without_split_facts"
        )  # fmt: skip
        for suffix, words in zip(suffixes, ("difference", "with", "without"), strict=True):
            columns.append(Column(f"{key}_{suffix}", f"{title}: {words}", "share"))
    remark = (
        "The people are not the same, as the trees are not.  In both a few people are far more "
        "exposed by what the choice of splits implies than by what leaves say."
    )
    sheet = Sheet(
        "Figure 7: ten largest differences of individual divergence (information gain)",
        tuple(columns), tuple(rows), (*notes(results, options), remark),
    )  # fmt: skip
    return Output(sheet, lambda: _draw_top_ten(by_level))


def figure_8(options: Options, log: Path) -> Output:
    """The average of the K largest differences."""
    runs = [
        run_of(measure, level, implicit=True, options=options)
        for measure in MEASURES
        for level in _LEVELS
    ]
    results = carry_out(runs, options, log)
    rows = tuple(
        {"k": k, **{_key(run): _mean(record, k) for run, record in results.items()}} for k in _SHOWN
    )
    columns = (
        Column("k", "top K", "count"),
        *[Column(_key(run), f"{TITLES[run.measure]}, {_words(run)}", "share") for run in results],
    )
    remark = (
        "The paper draws information gain with error rates; its curve starts at 1.49 (Figure 7) "
        "and falls as K grows.  A mean counts a person whom implicit information "
        "does not concern as 0, and one it misleads as negative."
    )
    sheet = Sheet(
        "Figure 8: average of the K largest differences of individual divergence", columns, rows,
        (*notes(results, options), remark),
    )  # fmt: skip
    return Output(sheet, lambda: _draw_curves(results))


def _key(run: Run) -> str:
    return f"{run.measure}_{run.level}"


def _words(run: Run) -> str:
    return "error rates" if run.level == "rates" else "class counts"


def _mean(record: Record, k: int) -> float | None:
    means = record.get("mean_of_top")
    return means[k - 1] if means and k <= len(means) else None


def _draw_top_ten(by_level: Mapping[Level, Record]) -> Figure:
    shown: list[tuple[str, list[float], list[float]]] = [
        ("paper, error rates", [n for n, _ in TOP_TEN], [f for _, f in TOP_TEN])
    ]
    for level, record in by_level.items():
        if record.get("difference"):
            title = "ours, error rates" if level == "rates" else "ours, class counts"
            shown.append(
                (title, record["with_split_facts"][:10], record["without_split_facts"][:10])
            )
    figure, axes = panels(len(shown), width=3.4, height=3.2)
    top = max(max(far) for _, _, far in shown)
    for panel, (title, near, far) in zip(axes, shown, strict=True):
        places = range(1, len(near) + 1)
        panel.vlines(places, near, far, color=GREY, linewidth=1)
        panel.plot(places, far, "o", color=SHADES[1], label="without implicit information")
        panel.plot(places, near, "o", color=SHADES[4], label="with")
        panel.set(title=title, xlabel="top", ylim=(0, 1.08 * top))
        panel.set_xticks(list(places))
    axes[0].set_ylabel("individual divergence (nats)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _draw_curves(results: Mapping[Run, Record]) -> Figure:
    figure, axes = panels(1, width=5.2, height=3.4)
    panel = axes[0]
    for run, record in results.items():
        means = record.get("mean_of_top")
        if not means:
            continue
        colour = SHADES[1] if run.measure == "gini" else SHADES[4]
        panel.plot(
            range(1, len(means) + 1), means, "-" if run.level == "rates" else "--", color=colour,
            label=f"{TITLES[run.measure]}, {_words(run)}",
        )  # fmt: skip
    published = [far - near for near, far in TOP_TEN]
    means = [sum(published[: k + 1]) / (k + 1) for k in range(len(published))]
    panel.plot(range(1, len(means) + 1), means, "x", color=GREY, markersize=4,
               label="paper, first ten (Figure 7)")  # fmt: skip
    panel.set(xlabel="top K", ylabel="average difference of divergence (nats)",
              ylim=(-0.03, None))  # fmt: skip
    panel.legend()
    return figure
