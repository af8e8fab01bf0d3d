"""The paper's experiments with bagging."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.papers._paper import Options
from glassleak.papers.forests import _bagging_campaign as campaign
from glassleak.papers.forests import _bagging_figures as figures
from glassleak.papers.forests import _bagging_runs as runs
from glassleak.papers.forests._expected import lookup


def test_the_best_guess_forgets_what_no_tree_fixes() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (60, 12)), columns=list("abcdefghijkl"))
    y = pd.Series(X["a"].to_numpy())
    # One tree that tests one column: every row it drew is right there, and wrong elsewhere.
    model = gl.read(RandomForestClassifier(1, max_features=None, random_state=0).fit(X, y))
    assert model.trees[0].n_leaves == 2
    error = runs.best_possible_guess(model, X, y, seed=0)
    assert 0.15 < error < 0.8
    # Many deep trees fix everything.
    noise = pd.Series(rng.integers(0, 2, 60))
    deep = gl.read(RandomForestClassifier(60, random_state=0).fit(X, noise))
    assert runs.best_possible_guess(deep, X, noise, seed=0) < 0.01


def test_the_best_guess_is_the_published_one() -> None:
    for which in (("adult", 10, 1), ("default_credit", 5, 30), ("adult", None, 100)):
        dataset, depth, trees = which
        errors = [
            runs.execute(runs.BaggedRun(dataset, depth, trees, seed, "guess"), 1.0)["error"]
            for seed in range(2)
        ]
        published = lookup("figure5", dataset=dataset, max_depth=depth, n_trees=trees)["error"]
        # Which of equally likely draws is guessed is chance, and so is the seed.
        assert np.mean(errors) == pytest.approx(published, abs=0.05)


def test_figures_put_published_and_regenerated_values_side_by_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[runs.BaggedRun] = []

    def pretend(run: runs.BaggedRun, budget: float) -> dict[str, object]:
        seen.append(run)
        return run.key | {
            "budget_seconds": budget, "glassleak": campaign.__version__, "status": "likely",
            "seconds": 1.0, "error": 0.01 * (run.what == "guess") + 0.001 * run.known_attributes,
        }  # fmt: skip

    monkeypatch.setattr(campaign, "execute", pretend)
    options = Options(tmp_path)
    sheet = figures.figure_5(options, tmp_path / "log.jsonl").sheet
    assert {row["ours_guess"] for row in sheet.rows} == {0.01}
    assert {row["ours_attack"] for row in sheet.rows} == {0.0}
    assert all(row["paper_guess"] is not None for row in sheet.rows)
    first = len(seen)
    figures.figure_5(options, tmp_path / "log.jsonl")
    assert len(seen) == first
    known = figures.figure_6(options, tmp_path / "log.jsonl").sheet
    compas = [row for row in known.rows if row["dataset"] == "COMPAS"]
    assert [row["known"] for row in compas] == [0, 3, 6]
    assert [row["ours_error"] for row in compas] == pytest.approx([0.0, 0.003, 0.006])


def test_an_attack_is_judged_on_the_attributes_that_were_unknown() -> None:
    plain = runs.execute(runs.BaggedRun("compas", 3, 20), 5.0)
    assert plain["status"] == "likely"
    assert 0 < plain["error"] < 0.12
    told = runs.execute(runs.BaggedRun("compas", 3, 20, known_attributes=5), 5.0)
    assert 0 <= told["error"] < 0.2
