"""Figures 5 and 6, and the right column of Figure 2: forests trained on bootstrap samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glassleak.papers._paper import Options, Output
from glassleak.papers._plot import SHADES, panels, plain_ticks
from glassleak.papers._sheet import Column, Sheet, ratio
from glassleak.papers.forests._bagging_campaign import Results, carry_out, errors, mean, unsolved
from glassleak.papers.forests._bagging_runs import BaggedRun
from glassleak.papers.forests._data import schema_of
from glassleak.papers.forests._expected import lookup
from glassleak.papers.forests._plan import seeds_of
from glassleak.papers.forests._setting import DATASETS, DEPTHS, TITLES, TREES
from glassleak.papers.forests._summary import depth_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_QUICK_DEPTHS: tuple[int | None, ...] = (3, None)
_QUICK_TREES = (10, 100)
_GUESS = (
    "Best guess: the draws are guessed with the training set at hand, and every value they do not "
    "fix counts as wrong (Appendix E)."
)
_ABOUT = (
    _GUESS,
    "Attack: neither the draws nor the training set is known (Figure 2, right column).",
)


def figure_5(options: Options, log: Path) -> Output:
    """The best possible guess, and the attack itself (Figure 2, right column)."""
    full = options.preset == "full"
    depths = DEPTHS if full else _QUICK_DEPTHS
    trees = TREES if full else _QUICK_TREES
    points = [(d, depth, t) for d in DATASETS for depth in depths for t in trees]
    runs = [
        BaggedRun(d, depth, t, seed, what)
        for d, depth, t in points
        for seed in seeds_of(options)
        for what in ("guess", "attack")
    ]
    results = carry_out(runs, options, log)
    rows = tuple(_point(results, *point) for point in points)
    columns = (
        Column("dataset", "dataset"),
        Column("max_depth", "depth"),
        Column("n_trees", "trees"),
        Column("paper_guess", "paper: best guess", "error"),
        Column("ours_guess", "ours", "error"),
        Column("paper_attack", "paper: attack", "error"),
        Column("ours_attack", "ours", "error"),
        Column("ratio", "ratio", "ratio"),
        Column("paper_unsolved", "failed: paper"),
        Column("ours_unsolved", "ours"),
        Column("ours_seconds", "ours s", "seconds", terminal=False),
    )
    sheet = Sheet(
        "Figures 5 and 2, right columns: error by number of trees, bagging", columns, rows,
        _ABOUT,
    )  # fmt: skip
    return Output(sheet, lambda: _draw_figure_5(results, depths, trees))


def figure_6(options: Options, log: Path) -> Output:
    """Error on the unknown attributes when others are known."""
    runs = [
        BaggedRun(dataset, None, 100, seed, known_attributes=k)
        for dataset in DATASETS
        for k in _known_numbers(dataset, options)
        for seed in seeds_of(options)
    ]
    results = carry_out(runs, options, log)
    rows = tuple(
        {
            "dataset": TITLES[dataset],
            "known": k,
            "ours_error": mean(results, "error", dataset=dataset, known_attributes=k),
            "ours_std": _spread(results, dataset, k),
        }
        for dataset in DATASETS
        for k in _known_numbers(dataset, options)
    )
    columns = (
        Column("dataset", "dataset"),
        Column("known", "attributes known"),
        Column("ours_error", "ours", "error"),
        Column("ours_std", "std", "error"),
    )
    sheet = Sheet(
        "Figure 6: error on unknown attributes, others known, bagging, 100 trees", columns, rows,
        ("The paper gives this figure as curves without numbers.",),
    )  # fmt: skip
    return Output(sheet, lambda: _draw_figure_6(results, options))


def _known_numbers(dataset: str, options: Options) -> list[int]:
    n = len(list(schema_of(dataset, "paper")))
    return list(range(n)) if options.preset == "full" else [0, n // 2, n - 1]


def _spread(results: Results, dataset: str, known: int) -> float | None:
    values = errors(results, "error", dataset=dataset, known_attributes=known)
    return float(np.std(values)) if len(values) > 1 else None


def _point(results: Results, dataset: str, depth: int | None, trees: int) -> dict[str, Any]:
    which = {"dataset": dataset, "max_depth": depth, "n_trees": trees}
    attack = lookup("figure2_bagging", **which)
    ours = mean(results, "error", what="attack", **which)
    return {
        "dataset": TITLES[dataset],
        "max_depth": depth_text(depth),
        "n_trees": trees,
        "paper_guess": lookup("figure5", **which)["error"],
        "ours_guess": mean(results, "error", what="guess", **which),
        "paper_attack": attack["error"],
        "ours_attack": ours,
        "ratio": ratio(attack["error"], ours),
        "paper_unsolved": f"{attack['unsolved']}/{attack['runs']}",
        "ours_unsolved": unsolved(results, what="attack", **which),
        "ours_seconds": mean(results, "seconds", what="attack", **which),
    }


def _draw_figure_5(results: Results, depths: Sequence[int | None], trees: Sequence[int]) -> Figure:
    figure, axes = panels(len(DATASETS))
    for panel, dataset in zip(axes, DATASETS, strict=True):
        for depth, colour in zip(depths, SHADES[-len(depths) :], strict=True):
            which = {"dataset": dataset, "max_depth": depth}
            name = f"depth {depth}" if depth else "no limit"
            published = [lookup("figure2_bagging", **which, n_trees=t)["error"] for t in trees]
            panel.plot(trees, published, "--", color=colour, alpha=0.7)
            ours = [mean(results, "error", what="attack", **which, n_trees=t) for t in trees]
            panel.plot(trees, ours, "-o", color=colour, label=name)  # type: ignore[arg-type]
            guess = [mean(results, "error", what="guess", **which, n_trees=t) for t in trees]
            panel.plot(trees, guess, ":", color=colour)  # type: ignore[arg-type]
        panel.set(xlabel="trees", xscale="log", title=TITLES[dataset], ylim=(-0.008, None))
        plain_ticks(panel.xaxis, [1, 5, 10, 20, 50, 100])
    axes[0].set_ylabel("reconstruction error")
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels),
                  title="solid: ours   dashed: published   dotted: best guess")  # fmt: skip
    return figure


def _draw_figure_6(results: Results, options: Options) -> Figure:
    figure, axes = panels(len(DATASETS))
    for panel, dataset in zip(axes, DATASETS, strict=True):
        numbers = _known_numbers(dataset, options)
        means = [mean(results, "error", dataset=dataset, known_attributes=k) for k in numbers]
        panel.plot(numbers, means, "-o", color=SHADES[-1])  # type: ignore[arg-type]
        panel.set(xlabel="known attributes", title=TITLES[dataset], ylim=(-0.001, None))
    axes[0].set_ylabel("error on the others")
    return figure
