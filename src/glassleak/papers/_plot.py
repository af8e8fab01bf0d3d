"""One plain look for every figure.  Only here is matplotlib touched, and only when one is drawn."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# From light to dark, readable in print and by the colour-blind: more knowledge, darker line.
SHADES = ("#e3a32a", "#d9722e", "#c2414b", "#8f2d6b", "#56317f", "#1f2a5c")
GREY = "#8a8a8a"

_STYLE: dict[Any, Any] = {
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 3.5,
    # Without a salt the ids in an SVG change from run to run.
    "svg.hashsalt": "glassleak",
}


def has_matplotlib() -> bool:
    """Whether figures can be drawn."""
    return importlib.util.find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Raise `MissingExtraError` unless figures can be drawn."""
    if not has_matplotlib():
        raise MissingExtraError(
            "figures are drawn with matplotlib, which is not installed; "
            "run: pip install 'glassleak[papers]'"
        )


def panels(count: int, *, width: float = 3.6, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels side by side."""
    figure, axes = grid_of_panels(1, count, width=width, height=height)
    return figure, axes[0]


def grid_of_panels(
    rows: int, columns: int, *, width: float = 3.6, height: float = 3.0
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with rows of panels."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [list(row) for row in axes]


def plain_ticks(axis: Axis, values: Sequence[float]) -> None:
    """Label a logarithmic axis at `values`, with numbers as people write them."""
    from matplotlib.ticker import NullFormatter

    axis.set_ticks(list(values), [f"{value:,g}" for value in values])
    axis.set_minor_formatter(NullFormatter())


def save(draw: Callable[[], Figure], stem: Path) -> list[Path]:
    """Draw and write ``.svg`` and ``.png``."""
    require_matplotlib()
    import matplotlib as mpl

    files = [stem.with_name(stem.name + suffix) for suffix in (".svg", ".png")]
    with mpl.rc_context(_STYLE):
        figure = draw()
        figure.savefig(files[0], metadata={"Date": None})
        figure.savefig(files[1], dpi=160)
    return files
