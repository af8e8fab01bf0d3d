"""Tables that go with the findings: what a report draws, and what a reader can check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Chart: TypeAlias = Literal["none", "line", "bar"]


@dataclass(frozen=True)
class Exhibit:
    """A small table behind an answer, and how to draw it.

    Attributes
    ----------
    id : str
        Stable, ``analysis.topic``; findings and displays refer to it.
    title : str
        What the reader sees in it, as a sentence.
    caption : str
        How it was computed and how to read it, in plain words.
    columns : tuple of str
        Names in the users' language, with units.
    rows : tuple of tuple
        The data, JSON-ready; at most a few hundred lines (say in the caption what was left out).
    chart : "none", "line" or "bar"
        "line" and "bar" draw every further column against the first one.
    personal : bool
        Whether the lines may describe real people (reconstructed rows): displays can blank them.
    """

    id: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    chart: Chart = "none"
    personal: bool = False
