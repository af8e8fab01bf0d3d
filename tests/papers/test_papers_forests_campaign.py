from __future__ import annotations

from pathlib import Path

import pytest
from fake_runs import record_of

from glassleak.papers._paper import Options
from glassleak.papers.forests import _campaign
from glassleak.papers.forests._campaign import carry_out
from glassleak.papers.forests._setting import Run

RUNS = [Run("adult", depth, 10, seed=seed) for depth in (2, None) for seed in range(3)]


class Runner:
    """Counts what it is asked to run, and can be interrupted like a person would."""

    def __init__(self, stop_after: int | None = None, **changes: object) -> None:
        self.stop_after, self.changes = stop_after, changes
        self.asked: list[Run] = []

    def __call__(self, run: Run, budget_seconds: float) -> dict[str, object]:
        if self.stop_after is not None and len(self.asked) == self.stop_after:
            raise KeyboardInterrupt
        self.asked.append(run)
        return record_of(run, budget_seconds, **self.changes)


def carry(folder: Path, runner: Runner, budget: float = 5.0, runs: list[Run] | None = None):
    return carry_out(runs or RUNS, lambda _: budget, Options(folder), folder / "log", runner)


def test_an_interrupted_campaign_continues(tmp_path: Path) -> None:
    first = Runner(stop_after=4)
    with pytest.raises(KeyboardInterrupt):
        carry(tmp_path, first)
    second = Runner()
    results = carry(tmp_path, second)
    assert first.asked == RUNS[:4]
    assert second.asked == RUNS[4:]
    assert list(results) == RUNS
    assert all(results[run] == record_of(run) for run in RUNS)
    third = Runner()
    assert carry(tmp_path, third) == results
    assert third.asked == []


def test_runs_are_told_apart_by_every_field(tmp_path: Path) -> None:
    base = Run("adult", None, 10)
    others = [
        Run("compas", None, 10), Run("adult", 2, 10), Run("adult", None, 5),
        Run("adult", None, 10, n_rows=50), Run("adult", None, 10, seed=1),
        Run("adult", None, 10, formulation="rows-cp"), Run("adult", None, 10, schema="tight"),
    ]  # fmt: skip
    carry(tmp_path, Runner(), runs=[base])
    runner = Runner()
    carry(tmp_path, runner, runs=[base, *others])
    assert runner.asked == others


def test_more_time_repeats_only_what_it_could_improve(tmp_path: Path) -> None:
    carry(tmp_path, Runner(), budget=5)
    again = Runner()
    carry(tmp_path, again, budget=60)
    assert again.asked == [run for run in RUNS if run.max_depth == 2]  # the others are unique
    less = Runner()
    carry(tmp_path, less, budget=5)
    assert less.asked == []


def test_a_published_formulation_is_repeated_only_if_it_failed(tmp_path: Path) -> None:
    runs = [Run("compas", 2, 10, formulation="rows-cp")]
    carry(tmp_path, Runner(), budget=5, runs=runs)
    repeated = Runner()
    carry(tmp_path, repeated, budget=60, runs=runs)
    assert repeated.asked == []
    failed = tmp_path / "failed"
    failed.mkdir()
    carry(failed, Runner(status="not solved", error=None), budget=5, runs=runs)
    carry(failed, repeated, budget=60, runs=runs)
    assert repeated.asked == runs


def test_another_version_starts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carry(tmp_path, Runner())
    monkeypatch.setattr(_campaign, "__version__", "999")
    runner = Runner()
    carry(tmp_path, runner)
    assert runner.asked == RUNS


def test_progress_is_told_before_each_run_and_at_the_end(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    options = Options(tmp_path, progress=lambda *step: told.append(step))
    carry_out(RUNS[:2], lambda _: 5, options, tmp_path / "log", Runner())
    assert [(done, total) for done, total, _ in told] == [(0, 2), (1, 2), (2, 2)]
    assert "depth 2" in told[0][2]
