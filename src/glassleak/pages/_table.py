"""Tables: aligned, labelled, and able to scroll where a screen is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glassleak.pages._markup import Child, Html, tag


def data_table(
    columns: Sequence[str], cells: Sequence[Sequence[str]], raw: Sequence[Sequence[Any]], name: str
) -> Html:
    """A table of values; columns of numbers are aligned at the right."""
    numeric = [
        all(isinstance(row[i], int | float) or row[i] is None for row in raw)
        for i in range(len(columns))
    ]
    kinds = ["number" if n else None for n in numeric]
    head = [tag("th", c, scope="col", class_=k) for c, k in zip(columns, kinds, strict=True)]
    body = [
        tag("tr", [tag("td", cell, class_=k) for cell, k in zip(row, kinds, strict=True)])
        for row in cells
    ]
    return scrolling(
        tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_="values"), name
    )


def turned_table(columns: Sequence[str], cells: Sequence[Sequence[str]], name: str) -> Html:
    """The same, turned: one line per column, one column per row."""
    head = [tag("th", f"row {i + 1}", scope="col") for i in range(len(cells))]
    body = [
        tag("tr", tag("th", column, scope="row"), [tag("td", row[i]) for row in cells])
        for i, column in enumerate(columns)
    ]
    corner = tag("td", "")
    return scrolling(
        tag("table", tag("thead", tag("tr", corner, head)), tag("tbody", body),
            class_="values turned"),
        name,
    )  # fmt: skip


def text_table(head: Sequence[str], rows: Sequence[Sequence[Child]], name: str) -> Html:
    """A table of words; the first cell of every row is its heading."""
    body = [
        tag("tr", tag("th", first, scope="row"), [tag("td", cell) for cell in rest])
        for first, *rest in rows
    ]
    top = tag("thead", tag("tr", [tag("th", h, scope="col") for h in head]))
    return scrolling(tag("table", top, tag("tbody", body), class_="words"), name)


def facts(pairs: Sequence[tuple[str, Child]]) -> Html:
    """Names and what they stand for."""
    return tag("dl", [[tag("dt", name), tag("dd", fact)] for name, fact in pairs], class_="facts")


def scrolling(table: Html, name: str) -> Html:
    """A frame that scrolls sideways and can be reached with the keyboard."""
    return tag("div", table, class_="scroll", role="group", tabindex=0, aria_label=f"Table: {name}")
