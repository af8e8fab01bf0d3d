"""A table of results: published and regenerated side by side, as CSV, Markdown or cells of text."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Form: TypeAlias = Literal["text", "count", "seconds", "error", "share", "ratio"]


@dataclass(frozen=True)
class Column:
    """One column of a sheet.

    Attributes
    ----------
    key : str
        In the rows, and the column's name in the CSV file.
    title : str
    form : "text", "count", "seconds", "error", "share" or "ratio"
        How numbers are written.
    terminal : bool
        Whether it is also shown on a terminal, where room is short.
    """

    key: str
    title: str
    form: Form = "text"
    terminal: bool = True


@dataclass(frozen=True)
class Sheet:
    """A titled table with notes.

    Attributes
    ----------
    title : str
    columns : tuple of Column
    rows : tuple of mappings
        From column key to a value; ``None`` where there is nothing to say.
    notes : tuple of str
        What a reader must know to read the numbers rightly.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()

    def cells(self, *, terminal: bool = False) -> tuple[list[str], list[list[str]]]:
        """Titles and formatted rows."""
        shown = [c for c in self.columns if c.terminal or not terminal]
        rows = [[formatted(row.get(c.key), c.form) for c in shown] for row in self.rows]
        return [c.title for c in shown], rows

    def to_csv(self) -> str:
        """All columns, numbers in full; nothing where a value is missing."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([c.key for c in self.columns])
        for row in self.rows:
            values = [row.get(c.key) for c in self.columns]
            writer.writerow(["" if v is None else v for v in values])
        return text.getvalue()

    def to_markdown(self) -> str:
        """Title, table and notes."""
        titles, rows = self.cells()
        aligned = [":--" if c.form == "text" else "--:" for c in self.columns]
        lines = [f"# {self.title}", "", _line(titles), _line(aligned), *map(_line, rows)]
        if self.notes:
            lines += ["", *[f"- {note}" for note in self.notes]]
        return "\n".join(lines) + "\n"


def formatted(value: Any, form: Form) -> str:
    """One cell as text."""
    if value is None:
        return "–"
    if isinstance(value, str) or form == "text":
        return str(value)
    number = float(value)
    if form == "ratio":
        return (
            f"{number:,.0f}×"
            if number >= 10
            else f"{number:.1f}×"
            if number >= 1
            else f"{number:.2g}×"
        )
    if form == "count":
        return f"{number:,.0f}" if number.is_integer() else f"{number:,.1f}"
    digits = {"error": 4, "share": 3}.get(form)
    if digits is None:
        digits = 2 if number < 10 else 1 if number < 1000 else 0
    return f"{number:,.{digits}f}"


def ratio(published: float | None, ours: float | None) -> float | str | None:
    """How many times smaller ours is, or in words where a zero makes that meaningless."""
    if published is None or ours is None or math.isnan(published) or math.isnan(ours):
        return None
    if published == 0 or ours == 0:
        return "both 0" if published == ours else "ours is 0" if ours == 0 else "published is 0"
    return published / ours


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
