"""Charts as inline SVG: bars and lines with their values written beside them.

Colours, fonts and strokes come from the page's style sheet through classes, so that a chart follows
light, dark and print like the text around it.  Lines differ by dashes and markers too, not by
colour alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from glassleak._printable import printable
from glassleak.pages._markup import Html, tag
from glassleak.pages._numbers import short_number
from glassleak.pages._scale import Scale, order_scale, place_scale, value_scale

_CHARACTER = 6.7  # width of a character of the 12-pixel labels, generously
_LINE_HEIGHT = 16
SERIES = 6


@dataclass(frozen=True)
class Series:
    """One quantity: a name, and a value (or none) for every place."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Drawing:
    """What to draw; `number` keeps ids apart when there are several on a page."""

    number: str
    title: str
    description: str
    place: str
    places: tuple[object, ...]
    series: tuple[Series, ...]


def bar_chart(drawing: Drawing, width: int) -> Html:
    """Horizontal bars, one group for every place, each with its value at the end."""
    labels = [_label(p, 26 if width > 500 else 16) for p in drawing.places]
    left = min(width * 0.42, _CHARACTER * max(map(len, labels), default=0) + 14)
    several = len(drawing.series) > 1
    top = _LINE_HEIGHT * (_legend_lines(drawing.series, width) if several else 0) + 20
    values = [v for s in drawing.series for v in s.values if v is not None]
    right = _CHARACTER * max((len(short_number(v)) for v in values), default=1) + 14
    scale = value_scale(values, left, width - right)
    thick = 20 if not several else 14
    group = thick * len(drawing.series) + 10
    height = top + group * len(labels) + 6
    parts: list[Html] = [*_legend(drawing.series, width, "bar")] if several else []
    parts.append(_text(left - 8, top - 7, drawing.place, "axis", "end"))
    if not several:
        parts.append(_text(left, top - 7, drawing.series[0].name, "axis", "start"))
    for i, label in enumerate(labels):
        y = top + group * i + 5
        parts.append(_text(left - 8, y + (group - 10) / 2 + 4, label, "label", "end"))
        for j, series in enumerate(drawing.series):
            parts += _bar(series.values[i], scale, y + thick * j, thick - 3, j)
    zero = scale(0.0)
    bottom = height - 6
    parts.append(tag("line", x1=zero, x2=zero, y1=float(top), y2=float(bottom), class_="zero"))
    return _picture(drawing, width, height, parts)


def _bar(value: float | None, scale: Scale, y: float, thick: float, which: int) -> list[Html]:
    if value is None:
        return [_text(scale(0.0) + 5, y + thick / 2 + 4, "not known", "value", "start")]
    start, end = sorted((scale(0.0), scale(value)))
    # Whatever is there at all must be seen.
    width = max(end - start, 1.5) if value else 0.0
    bar = tag("rect", x=start, y=y, width=width, height=thick, class_=f"bar s{which}")
    return [bar, _text(end + 5, y + thick / 2 + 4, short_number(value), "value", "start")]


def line_chart(drawing: Drawing, width: int) -> Html:
    """Lines over numbers (or over places in their order), with the first and last value written."""
    numbers = _rising_numbers(drawing.places)
    named = numbers is None
    if numbers is None:
        numbers = [float(i) for i in range(len(drawing.places))]
    values = [v for s in drawing.series for v in s.values if v is not None]
    wide = width > 500
    height = 300 if wide else 250
    top = _LINE_HEIGHT * _legend_lines(drawing.series, width) + 18
    bottom = height - 44
    y = value_scale(values, float(bottom), float(top))
    left = _CHARACTER * max(len(short_number(t)) for t in y.ticks) + 16
    steps = 8 if wide else 4
    x = (
        order_scale(len(numbers), left + 8, width - 44.0, steps=steps)
        if named
        else place_scale(numbers, left + 8, width - 44.0, steps=steps)
    )
    parts = [*_legend(drawing.series, width, "line")]
    for tick in y.ticks:
        parts.append(tag("line", x1=left, x2=width - 30.0, y1=y(tick), y2=y(tick), class_="grid"))
        parts.append(_text(left - 6, y(tick) + 4, short_number(tick), "tick", "end"))
    for tick in x.ticks:
        name = _label(drawing.places[int(tick)], 12) if named else short_number(tick)
        parts.append(tag("line", x1=x(tick), x2=x(tick), y1=bottom, y2=bottom + 4, class_="zero"))
        parts.append(_text(x(tick), bottom + 18, name, "tick", "middle"))
    scale = " (logarithmic scale)" if x.logarithmic else ""
    parts.append(_text((left + width) / 2, height - 6, f"{drawing.place}{scale}", "axis", "middle"))
    for j, series in enumerate(drawing.series):
        parts += _line(series, numbers, x, y, j)
    parts += _end_labels(drawing.series, numbers, x, y)
    return _picture(drawing, width, height, parts)


def _line(series: Series, numbers: list[float], x: Scale, y: Scale, which: int) -> list[Html]:
    parts: list[Html] = []
    run: list[str] = []
    for place, value in [*zip(numbers, series.values, strict=True), (0.0, None)]:
        if value is None:  # a gap is a gap, not a line through nothing
            if len(run) > 1:
                parts.append(tag("polyline", points=" ".join(run), class_=f"line s{which}"))
            run = []
            continue
        run.append(f"{x(place):.1f},{y(value):.1f}")
        parts.append(_marker(x(place), y(value), which))
    return parts


def _marker(x: float, y: float, which: int) -> Html:
    if which % 3 == 1:
        return tag("rect", x=x - 3, y=y - 3, width=6, height=6, class_=f"dot s{which}")
    if which % 3 == 2:
        points = f"{x:.1f},{y - 4:.1f} {x + 4:.1f},{y + 3:.1f} {x - 4:.1f},{y + 3:.1f}"
        return tag("polygon", points=points, class_=f"dot s{which}")
    return tag("circle", cx=x, cy=y, r=3.2, class_=f"dot s{which}")


def _end_labels(series: Sequence[Series], numbers: list[float], x: Scale, y: Scale) -> list[Html]:
    """The first and last value of every line, moved apart where they would cover each other."""
    first, last = [], []
    for one in series:
        known = [(n, v) for n, v in zip(numbers, one.values, strict=True) if v is not None]
        if known:
            last.append((y(known[-1][1]) + 4, x(known[-1][0]) + 7, known[-1][1]))
        if len(known) > 1:
            first.append((y(known[0][1]) - 7, x(known[0][0]) + 4, known[0][1]))
    parts = []
    for ends in (first, last):
        above = -math.inf
        shown: set[tuple[float, str]] = set()
        for height, place, value in sorted(ends):
            name = short_number(value)
            if (place, name) in shown:  # lines that meet need one label
                continue
            shown.add((place, name))
            above = max(height, above + 13)
            parts.append(_text(place, above, name, "value", "start"))
    return parts


def _legend_lines(series: Sequence[Series], width: int) -> int:
    return max((line for _, line, _ in _legend_places(series, width)), default=0) + 1


def _legend_places(series: Sequence[Series], width: int) -> list[tuple[float, int, str]]:
    places, x, line = [], 4.0, 0
    for one in series:
        name = _label(one.name, 40 if width > 500 else 24)
        wide = 34 + _CHARACTER * len(name)
        if x > 4 and x + wide > width:
            x, line = 4.0, line + 1
        places.append((x, line, name))
        x += wide
    return places


def _legend(series: Sequence[Series], width: int, kind: str) -> list[Html]:
    parts = []
    for which, (x, line, name) in enumerate(_legend_places(series, width)):
        y = 10 + _LINE_HEIGHT * line
        if kind == "bar":
            parts.append(tag("rect", x=x, y=y - 6, width=18, height=10, class_=f"bar s{which}"))
        else:
            ends = f"{x:.1f},{y - 1:.1f} {x + 18:.1f},{y - 1:.1f}"
            parts.append(tag("polyline", points=ends, class_=f"line s{which}"))
            parts.append(_marker(x + 9, y - 1.0, which))
        parts.append(_text(x + 23, y + 3, name, "axis", "start"))
    return parts


def _picture(drawing: Drawing, width: int, height: float, parts: list[Html]) -> Html:
    size = "wide" if width > 500 else "narrow"
    title, description = f"t-{drawing.number}-{size}", f"d-{drawing.number}-{size}"
    return tag(
        "svg",
        tag("title", drawing.title, id=title),
        tag("desc", drawing.description, id=description),
        parts,
        viewBox=f"0 0 {width} {height:.0f}",
        class_=f"chart {size}",
        role="img",
        aria_labelledby=title,
        aria_describedby=description,
    )


def _text(x: float, y: float, words: object, kind: str, anchor: str) -> Html:
    return tag("text", str(words), x=x, y=float(y), class_=kind, text_anchor=anchor)


def _label(words: object, longest: int) -> str:
    if isinstance(words, int | float) and not isinstance(words, bool):
        return short_number(words)
    return printable(words, longest)


def _rising_numbers(places: Sequence[object]) -> list[float] | None:
    """The places as numbers, if that is what they are and each is larger than the one before."""
    numbers = [float(p) for p in places if isinstance(p, int | float) and not isinstance(p, bool)]
    rising = all(a < b for a, b in itertools.pairwise(numbers))
    return numbers if len(numbers) == len(places) and rising else None
