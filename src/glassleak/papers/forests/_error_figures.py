"""Figures 2 (left column) and 4: the reconstruction error as forests grow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak.papers._paper import Options, Output
from glassleak.papers._plot import GREY, SHADES, panels, plain_ticks
from glassleak.papers._sheet import Column, Sheet, ratio
from glassleak.papers.forests import _plan as plan
from glassleak.papers.forests._campaign import Results, carry_out
from glassleak.papers.forests._expected import expected, lookup
from glassleak.papers.forests._setting import DATASETS, DEPTHS, TIGHTER, TITLES, Formulation
from glassleak.papers.forests._summary import depth_text, notes, run_by_run, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GUESSING = "Guessing at random: {parts}."


def figure_2(options: Options, log: Path) -> Output:
    """Error by number of trees, one panel per dataset."""
    results = _results(plan.figure_2(options), options, log)
    trees = sorted({run.n_trees for run in results if run.formulation == "auto"})
    rows = tuple(
        _point(results, dataset, depth, t)
        for dataset in DATASETS
        for depth in DEPTHS
        for t in trees
    )
    columns = (
        Column("dataset", "dataset"),
        Column("max_depth", "depth"),
        Column("n_trees", "trees"),
        Column("paper_error", "paper error", "error"),
        Column("ours_error", "ours", "error"),
        Column("ratio", "ratio", "ratio"),
        Column("certain_rows", "sure rows", "count"),
        Column("tight_error", "tight error", "error"),
        Column("paper_unsolved", "failed: paper"),
        Column("ours_unsolved", "ours"),
        Column("paper_seconds", "paper s", "seconds", terminal=False),
        Column("ours_seconds", "ours s", "seconds", terminal=False),
    )
    more = (
        "The right column of the figure (bagging) is drawn with Figure 5.",
        _guessing(results, DATASETS),
    )
    sheet = Sheet(
        "Figure 2, left column: error by number of trees, no bagging", columns, rows,
        notes(results, options) + more,
    )  # fmt: skip
    return Output(sheet, lambda: _draw_figure_2(results), run_by_run(results))


def figure_4(options: Options, log: Path) -> Output:
    """Error of each formulation on COMPAS."""
    results = _results(plan.figure_4(options), options, log)
    trees = sorted({run.n_trees for run in results if run.formulation != "random"})
    rows = tuple(_formulations(results, depth, t) for depth in DEPTHS for t in trees)
    columns = (
        Column("max_depth", "depth"),
        Column("n_trees", "trees"),
        Column("paper_cp", "paper CP", "error"),
        Column("paper_milp", "paper MILP", "error"),
        Column("ours", "glassleak", "error"),
        Column("ratio", "CP / glassleak", "ratio"),
        Column("ours_cp", "rows-cp", "error"),
        Column("ours_milp", "rows-milp", "error"),
    )
    title = "Figure 4: COMPAS, error under the published formulations and ours, no bagging"
    more = (_guessing(results, ("compas",)),)
    sheet = Sheet(title, columns, rows, notes(results, options) + more)
    return Output(sheet, lambda: _draw_figure_4(results), run_by_run(results))


def _results(runs: list[Any], options: Options, log: Path) -> Results:
    return carry_out(runs, lambda run: plan.budget_of(run, options), options, log)


def _guessing(results: Results, chosen: tuple[str, ...]) -> str:
    parts = []
    for dataset in chosen:
        ours = summarise(results, dataset=dataset, formulation="random").mean("error")
        published = lookup("baseline", dataset=dataset)["error"]
        parts.append(f"{TITLES[dataset]} {ours:.4f} (published {published:.4f})")
    return _GUESSING.format(parts=", ".join(parts))


def _point(results: Results, dataset: str, depth: int | None, trees: int) -> dict[str, Any]:
    which = {"dataset": dataset, "max_depth": depth, "n_trees": trees}
    paper = lookup("figure2", **which)
    ours = summarise(results, **which, schema="paper", formulation="auto")
    error = ours.mean("error")
    row = {
        "dataset": TITLES[dataset],
        "max_depth": depth_text(depth),
        "n_trees": trees,
        "paper_error": paper["error"],
        "ours_error": ours.or_not_solved(error),
        "ratio": ratio(paper["error"], error),
        "certain_rows": ours.mean("certain_rows"),
        "paper_unsolved": f"{paper['unsolved']}/{paper['runs']}",
        "ours_unsolved": ours.unsolved,
        "paper_seconds": paper["seconds"],
        "ours_seconds": ours.mean("seconds"),
    }
    if dataset in TIGHTER:
        row["tight_error"] = summarise(results, **which, schema="tight").mean("error")
    return row


def _formulations(results: Results, depth: int | None, trees: int) -> dict[str, Any]:
    def error(formulation: Formulation) -> float | str | None:
        runs = summarise(results, max_depth=depth, n_trees=trees, formulation=formulation)
        return runs.or_not_solved(runs.mean("error"))

    which = {"dataset": "compas", "max_depth": depth, "n_trees": trees}
    published, ours = lookup("figure2", **which)["error"], error("auto")
    return {
        "max_depth": depth_text(depth),
        "n_trees": trees,
        "paper_cp": published,
        "paper_milp": lookup("figure4", **which)["error"],
        "ours": ours,
        "ratio": ratio(published, ours) if isinstance(ours, float) else None,
        "ours_cp": error("rows-cp"),
        "ours_milp": error("rows-milp"),
    }


def _draw_figure_2(results: Results) -> Figure:
    figure, axes = panels(len(DATASETS))
    for panel, dataset in zip(axes, DATASETS, strict=True):
        _curves(panel, results, dataset, "auto", "figure2")
        panel.set_title(TITLES[dataset])
    _legend(figure, axes)
    return figure


def _draw_figure_4(results: Results) -> Figure:
    shown: tuple[tuple[Formulation, str, str], ...] = (
        ("rows-cp", "figure2", "CP model"),
        ("rows-milp", "figure4", "linear program"),
        ("auto", "figure2", "glassleak (published: CP)"),
    )
    figure, axes = panels(len(shown))
    for panel, (formulation, curve, title) in zip(axes, shown, strict=True):
        _curves(panel, results, "compas", formulation, curve)
        panel.set_title(f"COMPAS, {title}")
    _legend(figure, axes)
    return figure


def _curves(
    panel: Axes, results: Results, dataset: str, formulation: Formulation, curve: str
) -> None:
    """Published means dashed, ours solid, guessing dotted."""
    for depth, colour in zip(DEPTHS, SHADES, strict=True):
        line = [
            p for p in expected(curve, dataset=dataset, max_depth=depth) if p["error"] is not None
        ]
        panel.plot(
            [p["n_trees"] for p in line], [p["error"] for p in line], "--", color=colour, alpha=0.7
        )
        trees = sorted({r.n_trees for r in results if r.formulation == formulation})
        means = [
            summarise(results, dataset=dataset, max_depth=depth, n_trees=t, schema="paper",
                      formulation=formulation).mean("error")
            for t in trees
        ]  # fmt: skip
        solved = [(t, m) for t, m in zip(trees, means, strict=True) if m is not None]
        panel.plot([t for t, _ in solved], [m for _, m in solved], "-o", color=colour,
                   label=f"depth {depth}" if depth else "no limit")  # fmt: skip
    guessing = summarise(results, dataset=dataset, formulation="random").mean("error")
    if guessing is not None:
        panel.axhline(guessing, color=GREY, linestyle=":", label="guessing")
    # Most of the fall happens between 1 and 10 trees.
    panel.set(xlabel="trees", xscale="log", ylim=(-0.008, None))
    plain_ticks(panel.xaxis, [1, 5, 10, 20, 50, 100])


def _legend(figure: Figure, axes: list[Axes]) -> None:
    axes[0].set_ylabel("reconstruction error")
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels),
                  title="solid: ours   dashed: published")  # fmt: skip
