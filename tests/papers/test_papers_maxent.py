"""The maximum-entropy paper: its people, its trees, and what the figures are made of."""

from __future__ import annotations

import dataclasses
import itertools
import json

import pytest

from glassleak._version import __version__
from glassleak.papers import PAPERS, Options
from glassleak.papers.maxent import _execute
from glassleak.papers.maxent._data import numbers, people, tree
from glassleak.papers.maxent._execute import execute, still_good
from glassleak.papers.maxent._expected import (
    CONSTRAINTS,
    PEOPLE,
    QUASI_IDENTIFIERS,
    TOP_TEN,
    VALUES,
)
from glassleak.papers.maxent._setting import MEASURES, SENSITIVE, Run, run_of, within_reach

PAPER = PAPERS["maxent"]


def options(folder, preset="quick"):
    return Options(folder, preset=preset)


def test_the_people_are_those_of_the_paper():
    table = people()
    columns = [c for c in table.columns if c != SENSITIVE]
    assert len(table) == PEOPLE
    assert len(table[columns].drop_duplicates()) == QUASI_IDENTIFIERS
    assert table[SENSITIVE].nunique() == VALUES
    assert not (table == "?").any(axis=None)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_trees_are_about_as_large_as_those_of_the_paper(measure):
    found, published = numbers(tree(measure)), CONSTRAINTS[measure]
    assert found["label"] == 15 * found["leaves"]
    assert published.label == 15 * published.rate
    for kind in ("rate", "internal"):
        assert 0.75 < found[kind] / getattr(published, kind) < 1.25


def test_full_counts_are_solved_with_proof():
    record = execute(Run("gini", "counts", True), 60.0)
    assert record["status"] == "optimal"
    assert record["gap"] <= 1e-6 * PEOPLE
    assert record["violation"] <= 1e-6
    assert record["d_overall"] <= record["d_without"] + 1e-9
    assert len(record["difference"]) == _execute.TOP


def test_figures_come_from_the_log_when_they_can(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    calls = []

    def fake(run, budget):
        calls.append(run)
        base = {"gini": 1.0, "entropy": 0.8}[run.measure]
        level = {"labels": 0.5, "rates": 0.0, "counts": -0.5}[run.level]
        record = run.key | {"leaves": 10, "rate": 10, "label": 150, "internal": 20}
        record |= {
            "glassleak": __version__, "budget_seconds": budget, "status": "optimal",
            "seconds": 0.1, "peak_mb": 200.0, "d_overall": base + level, "kind": "closed form",
            "gap": 0.0, "violation": 0.0, "active": 3, "likely": 5, "likely_right": 5,
        }  # fmt: skip
        if run.implicit:
            falling = [1 / k for k in range(1, 501)]
            record |= {"difference": falling, "mean_of_top": falling,
                       "with_split_facts": falling, "without_split_facts": falling}  # fmt: skip
        return record

    monkeypatch.setattr(_execute, "execute", fake)
    log = PAPER.log_path(tmp_path)
    for item in PAPER.items:
        output = item.regenerate(options(tmp_path), log)
        assert output.sheet.rows
        assert output.draw().axes
    done = len(calls)
    assert len(set(calls)) == done
    assert all(within_reach(run, options(tmp_path)) for run in calls)
    _, files = PAPER.regenerate(PAPER.find("figure", 6), options(tmp_path))
    assert {f.suffix for f in files} == {".csv", ".md", ".svg", ".png"}
    assert len(calls) == done
    lines = log.read_text().splitlines()
    assert len(lines) == done
    assert json.loads(lines[0])["measure"] in MEASURES


def test_the_quick_preset_leaves_out_what_takes_an_hour(tmp_path):
    long = run_of("entropy", "rates", implicit=True, options=options(tmp_path, "full"))
    assert long.starts == 3
    assert within_reach(long, options(tmp_path, "full"))
    assert not within_reach(long, options(tmp_path))
    assert within_reach(dataclasses.replace(long, measure="gini"), options(tmp_path))


def test_records_that_may_not_be_used_again():
    good = {"glassleak": __version__, "status": "partial", "budget_seconds": 10}
    assert still_good(good, 10)
    assert not still_good(good, 20)
    assert still_good(good | {"status": "optimal"}, 20)
    assert not still_good(good | {"glassleak": "0"}, 10)
    assert not still_good(good | {"status": "not solved"}, 10)


def test_the_published_table_is_sorted_as_the_paper_says():
    differences = [far - near for near, far in TOP_TEN]
    assert all(a >= b - 2e-3 for a, b in itertools.pairwise(differences))
