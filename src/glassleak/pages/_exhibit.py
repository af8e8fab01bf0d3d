"""One exhibit of a record on the page: chart, caption, and its data as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from glassleak.pages._chart import SERIES, Drawing, Series, bar_chart, line_chart
from glassleak.pages._markup import Html, tag
from glassleak.pages._numbers import value
from glassleak.pages._table import data_table, turned_table

WIDE, NARROW = 640, 340
REDACTED = "redacted"
_MOST_BARS, _MOST_POINTS = 30, 400
_MOST_ROWS, _MOST_COLUMNS = 300, 60
# A table with more columns is easier to read turned: one line per attribute.
_TURN_FROM, _TURNED_ROWS = 8, 5
_PRINTED_ROWS = 25
# Beyond this no axis can show the values beside each other.
_SMALLEST, _LARGEST = 1e-12, 1e15
# Quantities this far apart are drawn in charts of their own.
_APART = 20.0


def exhibit(record: Mapping[str, Any], number: str, *, redact: bool) -> Html:
    """The figure for `record`, an exhibit of an audit document; `number` makes its ids unique."""
    hidden = redact and record["personal"]
    rows: list[list[Any]] = list(record["rows"])
    left_out = max(0, len(rows) - _MOST_ROWS)
    columns, shown = _trimmed(record["columns"], rows[:_MOST_ROWS])
    if hidden:
        shown = [[REDACTED] * len(columns) for _ in shown]
    charts = [] if hidden else _charts(record, columns, shown, number)
    caption = [tag("p", record["caption"])] if record["caption"] else []
    if hidden:
        caption.append(tag("p", _withheld(len(rows)), class_="notice"))
    if left_out:
        caption.append(tag("p", f"{left_out:,} more lines are in the JSON record."))
    return tag(
        "figure",
        tag("h4", record["title"]),
        tag("div", charts, class_="charts") if charts else None,
        _tables(columns, shown, record["title"], drawn=record["chart"] if charts else None),
        tag("figcaption", caption) if caption else None,
        id=f"exhibit-{number}",
    )


def _withheld(rows: int) -> str:
    what = "1 row describes a person" if rows == 1 else f"{rows:,} rows describe people"
    return f"{what}; the values were left out when this report was written (--redact)."


def _trimmed(columns: Sequence[str], rows: list[list[Any]]) -> tuple[list[str], list[list[Any]]]:
    """As many columns as can be shown, and every row as long as the columns are many."""
    names = list(columns[:_MOST_COLUMNS])
    width = len(names)
    return names, [[*row[:width], *[""] * (width - len(row))] for row in rows]


def _tables(columns: list[str], rows: list[list[Any]], title: str, *, drawn: str | None) -> Html:
    if not rows or not columns:
        return tag("p", "There is nothing to show: the table is empty.", class_="empty")
    cells = [[value(cell) for cell in row] for row in rows]
    whole = data_table(columns, cells, rows, title)
    lines = "1 line" if len(rows) == 1 else f"{len(rows):,} lines"
    # On paper bars have their values beside them; lines have not.
    printed = drawn == "line" and len(rows) <= _PRINTED_ROWS
    folded = tag(
        "details",
        tag("summary", f"Data as a table ({lines})"),
        whole,
        class_="data printed" if printed else "data",
    )
    if drawn:
        return folded
    if len(columns) <= _TURN_FROM:
        return whole if len(rows) <= _PRINTED_ROWS else folded
    first = turned_table(columns, cells[:_TURNED_ROWS], title)
    return tag("div", first, folded if len(rows) > _TURNED_ROWS else None)


def _charts(
    record: Mapping[str, Any], columns: list[str], rows: list[list[Any]], number: str
) -> list[Html]:
    most = {"bar": _MOST_BARS, "line": _MOST_POINTS}.get(record["chart"], 0)
    if not 0 < len(rows) <= most or (record["chart"] == "line" and len(rows) < 2):
        return []
    series = [
        Series(columns[i], tuple(_quantity(row[i]) for row in rows))
        for i in range(1, min(len(columns), SERIES + 1))
    ]
    series = [s for s in series if any(v is not None for v in s.values)]
    if not series or any(_undrawable(v) for row in rows for v in row):
        return []
    draw = bar_chart if record["chart"] == "bar" else line_chart
    places = tuple(row[0] for row in rows)
    pictures = []
    for i, together in enumerate(_alike(series)):
        drawing = Drawing(
            f"{number}-{i}",
            record["title"],
            _in_words(columns[0], places, together),
            columns[0],
            places,
            together,
        )
        pictures += [draw(drawing, WIDE), draw(drawing, NARROW)]
    return pictures


def _quantity(cell: Any) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    return float(cell) if abs(cell) <= _LARGEST else None


def _undrawable(cell: Any) -> bool:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return False
    return cell != 0 and not _SMALLEST <= abs(cell) <= _LARGEST


def _alike(series: list[Series]) -> list[tuple[Series, ...]]:
    """All in one chart if they are of similar size, else each in its own."""
    largest = [max(abs(v) for v in s.values if v is not None) for s in series]
    if min(largest) > 0 and max(largest) / min(largest) > _APART:
        return [(s,) for s in series]
    return [tuple(series)]


def _in_words(place: str, places: tuple[object, ...], series: tuple[Series, ...]) -> str:
    """What the chart shows, for those who do not see it; the table below has every value."""
    first, last = value(places[0]), value(places[-1])
    parts = []
    for one in series:
        ends = [value(v) for v in (one.values[0], one.values[-1])]
        parts.append(f"{one.name}: {ends[0]} at {place} {first}, {ends[1]} at {place} {last}")
    return "; ".join(parts) + ". The table below has every value."
