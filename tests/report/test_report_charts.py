"""Charts: bars as long as their values say, lines through their points, axes that hold all."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsed import Element, parse
from records import analysis, document, exhibit

from glassleak.pages._chart import Drawing, Series, bar_chart, line_chart
from glassleak.pages._scale import order_scale, place_scale, value_scale
from glassleak.report import render_html

SIZES = st.floats(1e-9, 1e12)


def drawing(places: tuple[object, ...], *series: tuple[float | None, ...]) -> Drawing:
    named = tuple(Series(f"series {i}", values) for i, values in enumerate(series))
    return Drawing("1", "Title", "Description", "place", places, named)


def shapes(svg: str, kind: str) -> list[Element]:
    return [e for e in parse(svg).every() if kind in str(e.attributes.get("class", "")).split()]


def number(element: Element, name: str) -> float:
    return float(str(element.attributes[name]))


def labels(svg: str, kind: str = "value") -> list[str]:
    return [e.text() for e in shapes(svg, kind) if e.name == "text"]


def figures(**changes: Any) -> Element:
    record = document(analyses=[analysis(exhibits=[exhibit(**changes)])])
    return parse(render_html(record)).every("figure")[0]


@given(st.lists(st.one_of(SIZES, SIZES.map(lambda v: -v), st.just(0.0)), min_size=1, max_size=9))
def test_an_axis_of_quantities_holds_zero_and_every_value(values: list[float]) -> None:
    scale = value_scale(values, 10.0, 110.0)
    for value in (*values, 0.0):
        assert 10 - 1e-6 <= scale(value) <= 110 + 1e-6
    assert 2 <= len(scale.ticks) <= 9
    assert list(scale.ticks) == sorted(set(scale.ticks))
    assert any(abs(t) < 1e-12 * max(map(abs, scale.ticks)) for t in scale.ticks)


@given(st.lists(st.floats(1e-6, 1e9), min_size=2, max_size=30, unique=True).map(sorted))
def test_an_axis_of_places_keeps_their_order(values: list[float]) -> None:
    scale = place_scale(values, 0.0, 100.0)
    drawn = [scale(v) for v in values]
    assert drawn == sorted(drawn)
    assert drawn[0] == pytest.approx(0)
    assert drawn[-1] == pytest.approx(100)
    assert all(-1e-6 <= scale(t) <= 100 + 1e-6 for t in scale.ticks)
    assert len(scale.ticks) <= 10


def test_wide_ranges_are_drawn_by_ratio() -> None:
    scale = place_scale([1.0, 10.0, 100.0], 0.0, 100.0)
    assert scale.logarithmic
    assert scale(10.0) == pytest.approx(50)
    assert not place_scale([1.0, 10.0], 0.0, 100.0).logarithmic
    assert not place_scale([0.0, 1000.0], 0.0, 100.0).logarithmic


def test_named_places_stand_at_equal_steps() -> None:
    scale = order_scale(20, 0.0, 95.0, steps=4)
    assert scale(1.0) - scale(0.0) == pytest.approx(5)
    assert scale.ticks == (0, 5, 10, 15)


class TestBars:
    def test_are_as_long_as_their_values(self) -> None:
        bars = shapes(bar_chart(drawing(("a", "b", "c"), (100, 50, 0)), 640), "bar")
        long, half, none = (number(bar, "width") for bar in bars)
        assert long == pytest.approx(2 * half, rel=1e-3)
        assert none == 0

    def test_that_are_not_zero_are_seen(self) -> None:
        small = shapes(bar_chart(drawing(("a", "b"), (1_000_000, 1)), 640), "bar")[1]
        assert number(small, "width") >= 1

    def test_have_their_values_and_names_beside_them(self) -> None:
        svg = bar_chart(drawing(("few", "many"), (12, 34567)), 640)
        assert labels(svg) == ["12", "34,567"]
        assert labels(svg, "label") == ["few", "many"]

    def test_say_when_a_value_is_not_known(self) -> None:
        svg = bar_chart(drawing(("a", "b"), (3, None)), 640)
        assert labels(svg) == ["3", "not known"]
        assert len(shapes(svg, "bar")) == 1

    def test_of_negative_values_go_the_other_way(self) -> None:
        plus, minus = shapes(bar_chart(drawing(("a", "b"), (5, -5)), 640), "bar")
        assert number(minus, "x") + number(minus, "width") == pytest.approx(number(plus, "x"))

    def test_with_several_quantities_name_them(self) -> None:
        svg = bar_chart(drawing(("a",), (1,), (2,)), 640)
        assert labels(svg, "axis")[:2] == ["series 0", "series 1"]

    @pytest.mark.parametrize("width", [340, 640])
    def test_with_long_names_stay_inside(self, width: int) -> None:
        svg = bar_chart(drawing(("n" * 500, "b"), (1, 2)), width)
        for bar in shapes(svg, "bar"):
            assert 0 <= number(bar, "x") <= number(bar, "x") + number(bar, "width") <= width


class TestLines:
    def test_go_through_their_points(self) -> None:
        svg = line_chart(drawing((1, 2, 3), (0, 10, 5)), 640)
        line = shapes(svg, "line")[-1]
        points = [tuple(map(float, p.split(","))) for p in str(line.attributes["points"]).split()]
        (x1, y1), (x2, y2), (x3, y3) = points
        assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
        assert y1 - y3 == pytest.approx((y1 - y2) / 2, abs=0.2)

    def test_have_gaps_where_nothing_is_known(self) -> None:
        lines = shapes(line_chart(drawing((1, 2, 3, 4, 5), (1, 2, None, 4, 5)), 640), "line")
        drawn = [e for e in lines if len(str(e.attributes["points"]).split()) == 2]
        assert len(drawn) == 3  # one of them in the legend

    def test_name_their_ends_once(self) -> None:
        svg = line_chart(drawing((1, 2), (40, 7), (30, 7)), 640)
        assert sorted(labels(svg)) == ["30", "40", "7"]

    def test_differ_by_more_than_colour(self) -> None:
        svg = line_chart(drawing((1, 2), (1, 2), (3, 4), (5, 6)), 640)
        assert {e.name for e in shapes(svg, "dot")} == {"circle", "rect", "polygon"}

    def test_over_names_keep_their_order(self) -> None:
        svg = line_chart(drawing(("low", "mid", "high"), (1, 2, 3)), 640)
        assert [t for t in labels(svg, "tick") if t.isalpha()] == ["low", "mid", "high"]

    def test_over_falling_numbers_are_drawn_in_the_order_given(self) -> None:
        svg = line_chart(drawing((3, 2, 1), (1, 2, 3)), 640)
        points = str(shapes(svg, "line")[-1].attributes["points"]).split()
        places = [float(p.split(",")[0]) for p in points]
        assert places == sorted(places)


class TestExhibits:
    def test_are_drawn_for_wide_and_narrow_screens(self) -> None:
        classes = [str(e.attributes["class"]) for e in figures().every("svg")]
        assert classes == ["chart wide", "chart narrow"]

    def test_quantities_of_other_size_get_their_own_chart(self) -> None:
        rows = [[1, 0.5, 9_000], [2, 0.4, 8_000]]
        assert len(figures(columns=["n", "share", "bits"], rows=rows).every("svg")) == 4
        rows = [[1, 5, 90], [2, 4, 80]]
        assert len(figures(columns=["n", "low", "high"], rows=rows).every("svg")) == 2

    @pytest.mark.parametrize(
        "rows",
        [
            [[1, 1e300], [2, 1]],
            [[1, 10**400], [2, 1]],
            [[1, 5e-324], [2, 1]],
            [[1, "many"], [2, "few"]],
            [[1, None], [2, None]],
            [[1, True], [2, False]],
            [[1, 3.0]],
            [],
        ],
        ids=str,
    )
    def test_what_cannot_be_drawn_is_a_table(self, rows: Any) -> None:
        figure = figures(rows=rows)
        assert not figure.every("svg")
        assert figure.every("table") or "empty" in figure.text()

    def test_too_many_bars_are_a_table(self) -> None:
        figure = figures(chart="bar", rows=[[i, i] for i in range(31)])
        assert not figure.every("svg")
        assert len(figure.every("tr")) == 32

    def test_short_rows_are_filled(self) -> None:
        cells = figures(chart="none", columns=["a", "b"], rows=[["x"], ["y", "z", "surplus"]])
        assert [len(r.every("td")) for r in cells.every("tr")[1:]] == [2, 2]

    def test_many_columns_are_turned(self) -> None:
        columns = [f"attribute {i}" for i in range(12)]
        rows = [[f"r{r}c{c}" for c in range(12)] for r in range(7)]
        figure = figures(chart="none", columns=columns, rows=rows)
        turned, whole = figure.every("table")
        assert [e.text() for e in turned.every("th")][5:] == columns
        assert len(turned.every("th")) == 5 + 12
        assert len(whole.every("tr")) == 1 + 7

    def test_every_value_of_a_chart_is_in_its_table(self) -> None:
        cells = [e.text() for e in figures().every("td")]
        assert cells == ["1", "90", "10", "40.5", "100", "2"]

    @given(st.lists(st.tuples(st.floats(-1e15, 1e15), st.floats(-1e15, 1e15)), min_size=2))
    def test_coordinates_are_numbers(self, rows: Any) -> None:
        for chart in ("line", "bar"):
            for shape in figures(chart=chart, rows=[list(r) for r in rows[:20]]).every():
                for name in ("x", "y", "cx", "cy", "width", "height", "x1", "y1"):
                    if name in shape.attributes:
                        assert math.isfinite(number(shape, name))
