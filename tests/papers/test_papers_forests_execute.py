"""One real run each way: trained, attacked and measured."""

from __future__ import annotations

import json

import pytest

from glassleak.errors import BudgetExhaustedError
from glassleak.papers.forests import _execute
from glassleak.papers.forests._execute import execute
from glassleak.papers.forests._setting import Run


def test_a_small_forest_gives_a_complete_record() -> None:
    run = Run("adult", None, 10, n_rows=25)
    record = json.loads(json.dumps(execute(run, 3.0)))
    assert {k: record[k] for k in run.key} == run.key
    assert record["status"] in ("unique", "consistent")
    assert record["train_accuracy"] == 0.96
    assert 0 <= record["error"] < 0.2526  # what guessing gives
    assert record["exact_rows"] <= 25
    assert 0 < record["seconds"] < 10
    assert record["table_accuracy"] is None


def test_a_deep_forest_gives_everything_away() -> None:
    record = execute(Run("adult", None, 100, schema="tight"), 20.0)
    assert record["status"] == "unique"
    assert (record["error"], record["exact_rows"], record["certain_rows"]) == (0.0, 100, 100)
    # Published for this sample and forest: 1,400 people, and everyone else in the table.
    assert record["test_accuracy"] == pytest.approx(0.7771428571428571, abs=1e-12)
    assert 0.76 < record["table_accuracy"] < 0.78


@pytest.mark.parametrize("formulation", ["rows-cp", "rows-milp"])
def test_published_formulations_run_too(formulation: str) -> None:
    record = execute(Run("adult", 2, 1, n_rows=25, formulation=formulation), 20.0)  # type: ignore[arg-type]
    assert record["status"] == "consistent"
    assert record["error"] < 0.5


def test_no_table_in_time_is_a_result_and_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _execute._warm_up("auto")

    def hopeless(*_: object, **__: object) -> None:
        raise BudgetExhaustedError("nothing in time")

    monkeypatch.setattr(_execute, "reconstruct", hopeless)
    record = execute(Run("adult", 2, 2, n_rows=25), 1.0)
    assert (record["status"], record["error"]) == ("not solved", None)
    assert record["reason"] == "nothing in time"


def test_guessing_is_the_papers_baseline() -> None:
    record = execute(Run("adult", None, 0, formulation="random"), 1.0)
    assert record["error"] == pytest.approx(0.2526, abs=0.01)
