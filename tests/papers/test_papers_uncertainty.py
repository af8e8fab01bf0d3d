import json
import os

import pytest

from glassleak import datasets
from glassleak.errors import DatasetUnavailableError
from glassleak.papers import PAPERS, Options
from glassleak.papers._reference import MissingReferenceError
from glassleak.papers.uncertainty import _execute, _exposure, _figures
from glassleak.papers.uncertainty._execute import execute
from glassleak.papers.uncertainty._expected import published_runs, same_as
from glassleak.papers.uncertainty._setting import DEPTHS, RULES, SEEDS, SUPPORTS, TREES, Run, grid

PAPER = PAPERS["uncertainty"]


def record_of(run, budget):
    """A made-up result in which every number says which run it belongs to."""
    optimal = run.learner.startswith("optimal")
    left = 1 - run.max_depth * (0.05 if optimal else 0.04) + run.min_support
    return run.key | {
        "size": run.max_depth + optimal,
        "train_accuracy": 0.6 + 0.01 * run.max_depth,
        "test_accuracy": 0.6,
        "dist_g": left,
        "dist_g_valid": left / 2,
        "exact": True,
        "exposure": [[3, left / 2], [1, left]],
        "single": 2,
        "certified": not (optimal and run.max_depth == 5 and run.min_support == 0.01),
        "seconds": 0.1,
        "budget_seconds": budget,
        "glassleak": _execute.__version__,
        "processors": 1,
    }


@pytest.fixture
def reference():
    if "GLASSLEAK_REFERENCE" not in os.environ:
        pytest.skip("GLASSLEAK_REFERENCE is not set")
    try:
        datasets.load("compas", variant="corels")
    except DatasetUnavailableError as error:
        pytest.skip(str(error))
    return published_runs()


@pytest.fixture
def made_up(monkeypatch):
    calls = []

    def fake(run, budget):
        calls.append(run)
        return record_of(run, budget)

    monkeypatch.setattr(_execute, "execute", fake)
    monkeypatch.delenv("GLASSLEAK_REFERENCE", raising=False)
    return calls


def test_full_grid_is_the_papers(tmp_path):
    runs = grid(TREES + RULES, Options(tmp_path, preset="full"))
    assert len(runs) == 2 * 4 * len(SUPPORTS) * len(DEPTHS) * len(SEEDS) == 2000
    assert len(set(runs)) == len(runs)


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6])
def test_every_figure_is_made_and_written(number, made_up, tmp_path):
    output, files = PAPER.regenerate(PAPER.find("figure", number), Options(tmp_path))
    assert {f.suffix for f in files} == {".csv", ".md", ".svg", ".png"}
    assert all(f.stat().st_size > 0 for f in files)
    assert output.sheet.title.startswith(f"Figure {number}")
    assert any("not certified" in note for note in output.sheet.notes)
    assert made_up


def test_means_over_seeds(made_up, tmp_path):
    output, _ = PAPER.regenerate(PAPER.find("figure", 2), Options(tmp_path, preset="full"))
    row = next(
        r
        for r in output.sheet.rows
        if (r["dataset"], r["learner"], r["min_support"], r["max_depth"])
        == ("compas", "optimal_tree", 0.03, 4)
    )
    assert row["dist_g"] == pytest.approx(1 - 4 * 0.05 + 0.03)
    assert row["dist_g_valid"] == pytest.approx(row["dist_g"] / 2)
    assert row["published"] is None


def test_figures_share_runs_and_continue_where_they_stopped(made_up, tmp_path):
    options = Options(tmp_path)
    PAPER.regenerate(PAPER.find("figure", 2), options)
    first = len(made_up)
    PAPER.regenerate(PAPER.find("figure", 5), options)
    assert len(made_up) == first
    more_time = Options(tmp_path, budget_seconds=10_000)
    PAPER.regenerate(PAPER.find("figure", 2), more_time)
    # Only models that were not certified could profit.
    again = made_up[first:]
    assert again
    assert all((r.max_depth, r.min_support) == (5, 0.01) for r in again)


def test_exposure_counts_people(made_up, tmp_path):
    output = _exposure.figure_4(Options(tmp_path), tmp_path / "log.jsonl")
    row = output.sheet.rows[0]
    left = 1 - 5 * 0.04 + 0.01
    assert row["q0"] == row["q0.5"] == pytest.approx(left / 2)
    assert row["q1"] == pytest.approx(left)
    assert row["single"] == 2


def test_run_by_run_finds_a_difference(reference):
    run = Run("compas", "greedy_tree", 0.01, 3, 0)
    theirs = same_as(reference, run)
    wrong = record_of(run, 1) | {"dist_g": theirs + 0.5}
    sheet = _figures.run_by_run({run: wrong})
    assert sheet.rows[0]["difference"] == pytest.approx(0.5)
    assert "5.0e-01" in sheet.notes[0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("support", "depth"), [(0.01, 10), (0.05, 4), (0.02, 1)])
def test_published_runs_are_reproduced(seed, support, depth, reference):
    run = Run("compas", "greedy_tree", support, depth, seed)
    record = execute(run, 10)
    assert record["dist_g"] == pytest.approx(same_as(reference, run), abs=1e-9)
    assert record["dist_g_valid"] < record["dist_g"]
    assert sum(people for people, _ in record["exposure"]) == 5771
    json.dumps(record)


@pytest.mark.parametrize("learner", ["optimal_tree", "greedy_rules", "optimal_rules"])
def test_real_runs_of_the_other_learners(learner):
    if learner == "optimal_tree":
        pytest.importorskip("pystreed")
    record = execute(Run("adult", learner, 0.05, 2, 1), 30)
    greedy = execute(Run("adult", "greedy_tree", 0.05, 2, 1), 30)
    assert 0 < record["dist_g"] < 1
    assert record["certified"]
    if learner == "optimal_tree":
        assert record["train_accuracy"] >= greedy["train_accuracy"] - 1e-12


def test_reference_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("GLASSLEAK_REFERENCE", str(tmp_path))
    with pytest.raises(MissingReferenceError, match="there is no"):
        published_runs()
    monkeypatch.delenv("GLASSLEAK_REFERENCE")
    assert published_runs() is None
    assert "GLASSLEAK_REFERENCE" not in os.environ
