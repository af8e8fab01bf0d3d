"""Does bagging protect?  Error as trees and people are added, ours and published, as one figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from glassleak.papers._plot import SHADES, grid_of_panels, plain_ticks, save
from glassleak.papers.forests._setting import DATASETS, TITLES

TREES = (1, 5, 10, 20, 50, 100)
PEOPLE = (50, 100, 200, 500, 1000)


def draw(lines: list[dict[str, Any]], stem: Path) -> None:
    """Write the figure as ``.svg`` and ``.png``."""
    save(lambda: _figure(lines), stem)


def _figure(lines: list[dict[str, Any]]) -> Any:
    """Upper row: by number of trees, 100 people.  Lower row: by people, 100 trees."""
    table = pd.DataFrame(lines)
    table = table[table["depth"].isna()]
    shown = [d for d in DATASETS if (table["dataset"] == d).any()]
    figure, axes = grid_of_panels(2, len(shown))
    for k, dataset in enumerate(shown):
        own = table[table["dataset"] == dataset]
        by_trees = own[own["rows"] == 100].sort_values("trees")
        by_people = own[own["trees"] == 100].sort_values("rows")
        _curve(axes[0][k], by_trees, "trees", TREES)
        _curve(axes[1][k], by_people, "rows", PEOPLE)
        axes[0][k].set(title=TITLES[dataset], xlabel="trees (100 people)")
        axes[1][k].set(xlabel="people (100 trees)")
    for row in range(2):
        axes[row][0].set_ylabel("share of values wrong")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _curve(panel: Any, table: pd.DataFrame, by: str, ticks: tuple[int, ...]) -> None:
    published = table.dropna(subset=["published"])
    style = "--" if len(published) > 1 else "s"
    panel.plot(published[by], published["published"], style, color=SHADES[1], label="published")
    panel.plot(table[by], table["error"], "-o", color=SHADES[-1], label="glassleak")
    panel.set(xscale="log", ylim=(-0.008, None))
    plain_ticks(panel.xaxis, list(ticks))
