"""Two pictures of a disclosure: everybody's posterior as a strip, and how many are how certain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from glassleak.disclosure import Disclosure
from glassleak.errors import SchemaError
from glassleak.papers import _plot
from glassleak.papers._plot import GREY, SHADES, panels, require_matplotlib
from glassleak.report import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A strip is a few hundred points wide; more people than this would be drawn on top of each other.
_ACROSS = 1500
_LADDER = (0.5, 0.75, 0.9, 0.99, 1.0)
_FORMATS = {".svg", ".png", ".pdf"}


def check_figure_path(path: str) -> Path:
    """`path`, if a figure can be written there; known before minutes of work, not after."""
    require_matplotlib()
    if Path(path).suffix.lower() not in _FORMATS:
        raise SchemaError(f"figures are .svg, .png or .pdf files, not {Path(path).suffix!r}")
    return Path(path)


def write_figure(found: Disclosure, path: Path) -> None:
    """Draw both panels into `path`."""
    import matplotlib as mpl

    # The date would make every run a different file.
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
    with mpl.rc_context(_plot._STYLE):
        draw(found).savefig(path, dpi=150, metadata=metadata)


def draw(found: Disclosure) -> Figure:
    """The figure: posterior strip and certainty ladder."""
    figure, axes = panels(2, width=4.6, height=3.2)
    _strip(found, axes[0])
    _ladder(found, axes[1])
    return figure


def _strip(found: Disclosure, axes: Axes) -> None:
    posterior = found.posterior.to_numpy()
    number = found.per_quasi_identifier["people"].to_numpy()
    names = [printable(str(c), 24) for c in found.classes]
    # People side by side: those with the same most likely value together, surest first.
    many = len(names) > len(SHADES)
    best = np.zeros(len(posterior)) if many else posterior.argmax(axis=1)
    order = np.lexsort((-posterior.max(axis=1), best))
    ends = np.cumsum(number[order])
    points = np.linspace(0, ends[-1], min(_ACROSS, int(ends[-1])), endpoint=False)
    shown = posterior[order[np.searchsorted(ends, points, side="right")]]
    if many:
        # Too many values to tell apart: show how much the likeliest few have.
        shown = -np.sort(-shown, axis=1)
        shown = np.column_stack([shown[:, :3], shown[:, 3:].sum(axis=1)])
        names = ["most likely value", "second", "third", f"the other {len(names) - 3}"]
    spread = np.linspace(0, len(SHADES) - 1, len(names)).round().astype(int)
    colours = [SHADES[i] for i in spread[::-1]]
    axes.stackplot(points, shown.T, labels=names, colors=colours, linewidth=0, step="post")
    axes.set_axisbelow(True)
    axes.set_xlim(0, ends[-1])
    axes.set_ylim(0, 1)
    axes.set_xlabel(
        "people, surest first" if many else "people, by most likely value, surest first"
    )
    axes.set_ylabel(f"estimated P({printable(found.sensitive, 24)})")
    axes.legend(loc="lower left", fontsize=7, frameon=True)


def _ladder(found: Disclosure, axes: Axes) -> None:
    people = found.per_person
    weight = people["people"].to_numpy()
    top = people["probability"].to_numpy()
    rungs = [f"{100 * share:g} % or more" if share < 1 else "100 %" for share in _LADDER]
    reached = [top >= (share if share < 1 else 1 - 1e-6) for share in _LADDER]
    if "right" in people:
        right = people["right"].to_numpy()
        good = [int(weight[some & right].sum()) for some in reached]
        bad = [int(weight[some & ~right].sum()) for some in reached]
        axes.barh(rungs, good, color=SHADES[4], label="right")
        axes.barh(rungs, bad, left=good, color=GREY, label="wrong")
        axes.legend(loc="upper right", fontsize=7)
    else:
        axes.barh(rungs, [int(weight[some].sum()) for some in reached], color=SHADES[4])
    if found.overall.certain is not None:
        axes.barh(["proved"], [found.overall.certain], color=SHADES[2])
    axes.set_xlim(0, found.overall.people)
    axes.set_xlabel("people whose most likely value is that certain")
    axes.grid(axis="y", visible=False)
    axes.set_axisbelow(True)
