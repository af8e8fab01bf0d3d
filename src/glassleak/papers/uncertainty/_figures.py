"""Figures 2, 3, 5 and 6: what models of each size and accuracy leave uncertain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak.papers._paper import Options, Output
from glassleak.papers._plot import SHADES, grid_of_panels
from glassleak.papers._sheet import Column, Sheet
from glassleak.papers.uncertainty import _setting as setting
from glassleak.papers.uncertainty._execute import carry_out
from glassleak.papers.uncertainty._expected import published_runs, same_as
from glassleak.papers.uncertainty._setting import DATASETS, NAMES, RULES, TITLES, TREES, Learner
from glassleak.papers.uncertainty._summary import Results, mean, notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_KINDS = {TREES: "decision trees", RULES: "rule lists"}
_SIZES = {TREES: "splits", RULES: "rules"}


def figure_2(options: Options, log: Path) -> Output:
    """Trees: Dist_G by size, and by accuracy."""
    return _figure(2, TREES, ("size", "train_accuracy"), "dist_g", options, log)


def figure_3(options: Options, log: Path) -> Output:
    """Rule lists: Dist_G by size, and by accuracy."""
    return _figure(3, RULES, ("size", "train_accuracy"), "dist_g", options, log)


def figure_5(options: Options, log: Path) -> Output:
    """Trees: size and Dist_G by the depth allowed."""
    return _figure(5, TREES, ("max_depth", "max_depth"), "size", options, log)


def figure_6(options: Options, log: Path) -> Output:
    """Rule lists: size and Dist_G by the length allowed."""
    return _figure(6, RULES, ("max_depth", "max_depth"), "size", options, log)


def _figure(
    number: int,
    learners: tuple[Learner, ...],
    across: tuple[str, str],
    first_row: str,
    options: Options,
    log: Path,
) -> Output:
    results = carry_out(setting.grid(learners, options), options, log)
    points = [
        _point(results, dataset, learner, support, depth)
        for dataset in DATASETS
        for learner in learners
        for support in setting.supports_of(options)
        for depth in setting.depths_of(options)
    ]
    by = " and ".join(dict.fromkeys(_axis(name, learners) for name in across))
    measured = "Dist_G" if first_row == "dist_g" else f"number of {_SIZES[learners]} and Dist_G"
    columns = (
        Column("dataset_title", "dataset"),
        Column("learner_name", "learner"),
        Column("min_support", "support"),
        Column("max_depth", "depth", "count"),
        Column("size", _SIZES[learners], "count"),
        Column("train_accuracy", "train acc.", "share"),
        Column("test_accuracy", "test acc.", "share"),
        Column("dist_g", "Dist_G", "error"),
        Column("dist_g_valid", "valid profiles", "error"),
        Column("published", "published", "error"),
        Column("seconds", "s", "seconds"),
    )
    title = f"Figure {number}: {measured} of {_KINDS[learners]} by {by}"
    sheet = Sheet(title, columns, tuple(points), notes(results, options))

    def draw() -> Figure:
        figure, axes = grid_of_panels(2, len(DATASETS))
        rows = ((across[0], first_row), (across[1], "dist_g"))
        for row, (x, y) in zip(axes, rows, strict=True):
            for panel, dataset in zip(row, DATASETS, strict=True):
                _draw(panel, [p for p in points if p["dataset"] == dataset], learners, x, y)
                panel.set_title(TITLES[dataset])
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        return figure

    return Output(sheet, draw, run_by_run(results))


def _point(
    results: Results, dataset: str, learner: Learner, support: float, depth: int
) -> dict[str, Any]:
    which = {"dataset": dataset, "learner": learner, "min_support": support, "max_depth": depth}
    published = published_runs()
    theirs = [
        value
        for run in results
        if published and all(getattr(run, k) == v for k, v in which.items())
        if (value := same_as(published, run)) is not None
    ]
    fields = ("size", "train_accuracy", "test_accuracy", "dist_g", "dist_g_valid", "seconds")
    return (
        which
        | {"dataset_title": TITLES[dataset], "learner_name": NAMES[learner]}
        | {field: mean(results, field, **which) for field in fields}
        | {"published": sum(theirs) / len(theirs) if theirs else None}
    )


def run_by_run(results: Results) -> Sheet | None:
    """Ours beside the authors' own runs on the same splits."""
    published = published_runs()
    if published is None:
        return None
    rows: list[dict[str, Any]] = []
    for run, record in results.items():
        theirs = same_as(published, run)
        if theirs is not None:
            difference = abs(record["dist_g"] - theirs)
            rows.append(run.key | {"ours": record["dist_g"], "published": theirs,
                                   "difference": difference})  # fmt: skip
    if not rows:
        return None
    worst = max(row["difference"] for row in rows)
    columns = tuple(
        Column(key, key)
        for key in ("dataset", "learner", "min_support", "max_depth", "seed", "ours", "published",
                    "difference")
    )  # fmt: skip
    note = f"{len(rows)} models compared with the authors' runs: largest difference {worst:.1e}."
    return Sheet("Run by run", columns, tuple(rows), (note,))


def _draw(
    panel: Axes, points: list[dict[str, Any]], learners: tuple[Learner, ...], x: str, y: str
) -> None:
    supports = sorted({p["min_support"] for p in points})
    for learner, style in zip(learners, (":", "-"), strict=True):
        for i, support in enumerate(supports):
            line = [
                (p[x], p[y])
                for p in points
                if (p["learner"], p["min_support"]) == (learner, support) and p[y] is not None
            ]
            # In the order of depth.  Models of several supports are often the same: thinner lines
            # on thicker ones show both.
            panel.plot([a for a, _ in line], [b for _, b in line], style, marker="o",
                       linewidth=3.5 - 0.6 * i, markersize=6 - 0.8 * i, color=SHADES[i],
                       label=f"{NAMES[learner]}, support {support}")  # fmt: skip
    panel.set(xlabel=_axis(x, learners), ylabel="Dist_G" if y == "dist_g" else _axis(y, learners))


def _axis(name: str, learners: tuple[Learner, ...]) -> str:
    return {
        "size": f"number of {_SIZES[learners]}",
        "train_accuracy": "training accuracy",
        "max_depth": "depth allowed" if learners == TREES else "rules allowed",
    }[name]
