from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glassleak import datasets
from glassleak.papers._paper import Options
from glassleak.papers._reference import REFERENCE, MissingReferenceError
from glassleak.papers.forests import _plan as plan
from glassleak.papers.forests._data import schema_of, split_of
from glassleak.papers.forests._expected import (
    RUNS_FILE,
    expected,
    lookup,
    published_runs,
)
from glassleak.papers.forests._setting import DATASETS, DEPTHS, TREES, Run
from glassleak.schema import Categorical

QUICK = Options(Path("unused"))
FULL = Options(Path("unused"), preset="full")


def test_the_papers_convention_groups_education_only() -> None:
    paper, tight = schema_of("adult", "paper"), schema_of("adult", "tight")
    groups = [a for a in paper if isinstance(a, Categorical)]
    assert [len(a.columns) for a in groups] == [6]
    assert all(column.startswith("education_") for column in groups[0].columns)
    assert paper.columns == tight.columns
    # 13 columns of two values each and one attribute of six levels.
    assert (paper.n_profiles, tight.n_profiles) == (2**13 * 6, 4608)


def test_every_person_fits_the_papers_schema() -> None:
    assert not schema_of("adult", "paper").invalid_rows(datasets.load("adult", "binary").data).any()


def test_training_set_is_the_head_of_the_published_sample() -> None:
    split = split_of(Run("adult", None, 100, n_rows=100, seed=3))
    frame = datasets.load("adult", "binary").frame
    sample = frame.sample(n=1500, random_state=3, ignore_index=True)
    np.testing.assert_array_equal(split.train.to_numpy(), sample.iloc[:100, :-1].to_numpy())
    np.testing.assert_array_equal(split.other_labels.to_numpy(), sample.iloc[100:, -1].to_numpy())
    assert len(split.elsewhere) == len(frame) - 100
    assert list(split.train.index) == list(range(100))


def test_tables_2_and_3_are_cuts_through_figure_2() -> None:
    """The printed tables and the curves were written down independently of each other."""
    for line in expected("table2"):
        curve = lookup("figure2", dataset=line["dataset"], max_depth=line["max_depth"], n_trees=100)
        assert curve["seconds"] == pytest.approx(line["seconds"], abs=0.11)
        assert curve["unsolved"] == line["unsolved"]
    for line in expected("table3"):
        curve = lookup("figure2", dataset=line["dataset"], max_depth=None, n_trees=line["n_trees"])
        assert curve["seconds"] == pytest.approx(line["seconds"], abs=0.11)
        assert curve["unsolved"] == line["unsolved"]


def test_table_5_averages_figures_2a_and_4b() -> None:
    for line in expected("table5"):
        name = "figure4" if line["formulation"] == "rows-milp" else "figure2"
        curve = expected(name, dataset="compas", max_depth=line["max_depth"])
        mean = np.mean([point["seconds"] for point in curve])
        assert mean == pytest.approx(line["seconds"], abs=0.11)


def test_every_planned_run_has_a_published_value() -> None:
    for options in (QUICK, FULL):
        for run in (*plan.figure_2(options), *plan.figure_4(options)):
            if run.formulation == "random":
                assert 0.2 < lookup("baseline", dataset=run.dataset)["error"] < 0.3
                continue
            which = {"dataset": run.dataset, "max_depth": run.max_depth, "n_trees": run.n_trees}
            assert lookup("figure2", **which)["runs"] == 5
        for dataset in DATASETS:
            for run in plan.scaling(dataset, options):
                assert lookup("scaling", dataset=dataset, n_rows=run.n_rows)["seconds"] > 0


def test_full_is_the_papers_whole_grid() -> None:
    runs = [r for r in plan.figure_2(FULL) if r.formulation == "auto" and r.schema == "paper"]
    grid = len(DATASETS) * len(DEPTHS) * len(TREES)
    assert len(runs) == len(set(runs)) == grid * 5
    assert {r.seed for r in runs} == {0, 1, 2, 3, 4}
    assert {r.seed for r in plan.table_2(QUICK)} == {0}


def test_only_adult_is_run_under_two_schemas() -> None:
    assert {r.dataset for r in plan.table_2(QUICK) if r.schema == "tight"} == {"adult"}


def test_published_formulations_can_be_left_out_and_have_their_own_budget() -> None:
    ours = Options(Path("unused"), ours_only=True)
    assert {r.formulation for r in plan.table_5(ours)} == {"auto"}
    assert {r.formulation for r in plan.table_5(QUICK)} == {"auto", "rows-cp", "rows-milp"}
    row = Run("compas", None, 1, formulation="rows-cp")
    assert plan.budget_of(row, FULL) > plan.budget_of(Run("compas", None, 1), FULL)
    assert plan.budget_of(Run("compas", 2, 1), FULL) > plan.budget_of(Run("compas", 5, 1), FULL)
    assert plan.budget_of(row, Options(Path("unused"), budget_seconds=7)) == 7


HEADER = (
    "method,bagging,dataset,max_depth,n_trees,seed,status,error,random_error,"
    "seconds_16_threads,test_accuracy"
)


def test_authors_runs_are_found_by_forest_and_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / RUNS_FILE).write_text(
        HEADER + "\ncp-sat,False,adult,2.0,10,1,OPTIMAL,0.05,0.25,3.5,0.75\n"
        "cp-sat,True,adult,2.0,10,1,OPTIMAL,0.09,0.25,9.5,0.75\n"
        "milp,False,adult,None,10,1,UNKNOWN,,0.25,18000.1,0.75\n"
    )
    monkeypatch.setenv(REFERENCE, str(tmp_path))
    runs = published_runs()
    assert runs is not None
    found = runs.same_as(Run("adult", 2, 10, seed=1))
    assert found is not None
    assert (found["error"], found["seconds_16_threads"]) == (0.05, 3.5)
    unsolved = runs.same_as(Run("adult", None, 10, seed=1, formulation="rows-milp"))
    assert unsolved is not None
    assert unsolved["error"] is None
    assert runs.same_as(Run("adult", 3, 10, seed=1)) is None


def test_a_wrong_reference_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REFERENCE, str(tmp_path))
    with pytest.raises(MissingReferenceError, match=RUNS_FILE):
        published_runs()
    (tmp_path / RUNS_FILE).write_text("a,b\n1,2\n")
    with pytest.raises(MissingReferenceError, match="not the authors' file"):
        published_runs()
    monkeypatch.delenv(REFERENCE)
    assert published_runs() is None
