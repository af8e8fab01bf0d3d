"""The tables and figures, from invented runs."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
from fake_runs import bagged_record_of, record_of

from glassleak.errors import MissingExtraError
from glassleak.papers import PAPERS, Options, Output
from glassleak.papers._reference import REFERENCE
from glassleak.papers.forests import _bagging_campaign, _campaign
from glassleak.papers.forests._expected import RUNS_FILE, lookup
from glassleak.papers.forests._setting import Run

PAPER = PAPERS["forests"]


@pytest.fixture(autouse=True)
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REFERENCE, raising=False)
    monkeypatch.setattr(_campaign, "execute", record_of)
    monkeypatch.setattr(_bagging_campaign, "execute", bagged_record_of)


def regenerate(kind: str, number: int, options: Options) -> tuple[Output, tuple[Path, ...]]:
    item = PAPER.find(kind, number)
    assert item is not None
    return PAPER.regenerate(item, options)


def row(output: Output, **fields: object) -> dict[str, object]:
    (found,) = [dict(r) for r in output.sheet.rows if all(r[k] == v for k, v in fields.items())]
    return found


def test_table_2_sets_times_side_by_side(tmp_path: Path) -> None:
    output, files = regenerate("table", 2, Options(tmp_path, preset="full"))
    line = row(output, dataset="Default Credit", max_depth="4")
    # Seeds 0 to 4 take 0.1 to 0.5 s, and 100 trees 0.1 s more.
    assert line["ours_seconds"] == pytest.approx(0.4)
    assert line["ratio"] == pytest.approx(6040.0 / 0.4)
    assert (line["paper_unsolved"], line["ours_unsolved"]) == ("2/5", "0/5")
    assert line["certain_rows"] == pytest.approx(42)
    assert (line["ours_unsolved_bagging"], line["paper_unsolved_bagging"]) == ("0/5", "0/5")
    assert line["ours_error_bagging"] == pytest.approx(0.0021)
    assert line["ours_seconds_bagging"] == pytest.approx(3.0)
    failed = row(output, dataset="Adult", max_depth="5")
    assert failed["ours_unsolved_bagging"] == "1/5"
    assert line.get("tight_seconds") is None
    assert row(output, dataset="Adult", max_depth="none")["tight_seconds"] == pytest.approx(0.4)
    assert len(output.sheet.rows) == 18
    assert [f.name for f in files] == ["forests-table-2.csv", "forests-table-2.md"]
    assert "which rows each tree drew is not used" in files[1].read_text(encoding="utf-8")


def test_unsolved_runs_are_counted_and_left_out_of_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def partly(run: Run, budget: float) -> dict[str, object]:
        failed = run.max_depth == 2 or (run.max_depth == 3 and run.seed > 0)
        changes = {"status": "not solved", "error": None, "seconds": 60.0} if failed else {}
        return record_of(run, budget, **changes)

    monkeypatch.setattr(_campaign, "execute", partly)
    output, _ = regenerate("table", 2, Options(tmp_path, preset="full"))
    some = row(output, dataset="COMPAS", max_depth="3")
    assert (some["ours_unsolved"], some["ours_seconds"]) == ("4/5", pytest.approx(0.2))
    none = row(output, dataset="COMPAS", max_depth="2")
    assert (none["ours_unsolved"], none["ours_seconds"]) == ("5/5", "not solved")
    assert none["ratio"] is None
    assert none["ours_error"] is None


def test_table_3_is_by_number_of_trees(tmp_path: Path) -> None:
    output, _ = regenerate("table", 3, Options(tmp_path))
    line = row(output, dataset="Adult", n_trees=30)
    assert line["paper_seconds"] == 84.9
    assert line["ours_seconds"] == pytest.approx(0.13)
    assert (line["paper_unsolved_bagging"], line["ours_unsolved_bagging"]) == ("0/5", "0/1")
    assert line["ours_error_bagging"] == pytest.approx(30 / 1e6)


def test_table_5_compares_on_the_same_forests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def five_trees_fail(run: Run, budget: float) -> dict[str, object]:
        failed = run.formulation == "rows-milp" and run.n_trees == 5
        changes = {"status": "not solved", "error": None} if failed else {}
        return record_of(run, budget, **changes)

    output, _ = regenerate("table", 5, Options(tmp_path))
    milp = row(output, max_depth="none", method="rows-milp")
    one, five = (
        lookup("figure4", dataset="compas", max_depth=None, n_trees=t)["seconds"] for t in (1, 5)
    )
    assert milp["forests"] == "1, 5"
    assert milp["paper_all_seconds"] == 188.3
    assert milp["paper_seconds"] == pytest.approx((one + five) / 2)
    monkeypatch.setattr(_campaign, "execute", five_trees_fail)
    output, _ = regenerate("table", 5, Options(tmp_path / "failed"))
    milp = row(output, max_depth="none", method="rows-milp")
    assert milp["ours_unsolved"] == "1/2"
    assert milp["paper_seconds"] == pytest.approx(one)


def test_table_5_in_full_covers_the_printed_averages(tmp_path: Path) -> None:
    output, _ = regenerate("table", 5, Options(tmp_path, preset="full", ours_only=True))
    assert {r["method"] for r in output.sheet.rows} == {"glassleak"}
    ours = row(output, max_depth="10", method="glassleak")
    assert ours["forests"] == "all 12"
    assert ours["paper_seconds"] == pytest.approx(53.7, abs=0.1)
    assert (ours["ours_min"], ours["ours_max"]) == (pytest.approx(0.101), pytest.approx(0.6))


@pytest.mark.parametrize(("number", "rows"), [(6, 10), (7, 8), (8, 7)])
def test_scaling_tables_have_a_figure_and_a_growth_rate(
    tmp_path: Path, number: int, rows: int
) -> None:
    output, files = regenerate("table", number, Options(tmp_path))
    assert len(output.sheet.rows) == rows
    assert row(output, n_rows=100)["ours_error"] == 0.0
    assert any("to the power" in note for note in output.sheet.notes)
    assert [f.suffix for f in files] == [".csv", ".md", ".svg", ".png"]
    assert all(f.stat().st_size > 0 for f in files)


def test_figure_2_says_what_is_left_out_and_how_guessing_does(tmp_path: Path) -> None:
    output, files = regenerate("figure", 2, Options(tmp_path))
    line = row(output, dataset="COMPAS", max_depth="2", n_trees=100)
    assert (line["paper_error"], line["ours_error"]) == (0.030857, 0.01)
    assert line["ratio"] == pytest.approx(3.0857)
    assert row(output, dataset="COMPAS", max_depth="none", n_trees=100)["ratio"] == "both 0"
    notes = " ".join(output.sheet.notes)
    assert "drawn with Figure 5" in notes
    assert "COMPAS 0.2000 (published 0.2038)" in notes
    with files[0].open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 3 * 6 * 3
    assert files[2].read_text(encoding="utf-8").startswith("<?xml")


def test_a_figure_is_the_same_file_each_time(tmp_path: Path) -> None:
    first, second = (
        regenerate("figure", 4, Options(tmp_path / name))[1][2].read_bytes() for name in "ab"
    )
    assert first == second


def test_figure_4_has_all_three_formulations(tmp_path: Path) -> None:
    output, _ = regenerate("figure", 4, Options(tmp_path))
    line = row(output, max_depth="2", n_trees=1)
    assert (line["ours"], line["ours_cp"], line["ours_milp"]) == (0.01, 0.01, 0.01)
    assert line["paper_cp"] != line["paper_milp"]
    assert row(output, max_depth="2", n_trees=100)["ours_cp"] is None


def test_items_share_their_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    regenerate("table", 2, Options(tmp_path))
    asked: list[Run] = []

    def counting(run: Run, budget: float) -> dict[str, object]:
        asked.append(run)
        return record_of(run, budget)

    monkeypatch.setattr(_campaign, "execute", counting)
    regenerate("table", 3, Options(tmp_path))
    assert asked
    assert all(run.n_trees != 100 for run in asked)


def test_without_matplotlib_figures_fail_before_any_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"glassleak\[papers\]"):
        regenerate("figure", 2, Options(tmp_path / "new"))
    assert not (tmp_path / "new").exists()
    output, files = regenerate("table", 6, Options(tmp_path))
    assert [f.suffix for f in files] == [".csv", ".md"]
    assert any("matplotlib is not installed" in note for note in output.sheet.notes)


def test_authors_runs_are_compared_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / RUNS_FILE).write_text(
        "method,bagging,dataset,max_depth,n_trees,seed,status,error,random_error,"
        "seconds_16_threads,test_accuracy\n"
        "cp-sat,False,compas,2.0,100,0,OPTIMAL,0.05,0.25,4.0,0.75\n"
        "cp-sat,False,compas,3.0,100,0,UNKNOWN,,0.25,18000.0,0.75\n"
        "cp-sat,False,compas,None,100,0,OPTIMAL,0.0,0.25,100.0,0.74\n"
    )
    monkeypatch.setenv(REFERENCE, str(tmp_path))
    output, files = regenerate("table", 2, Options(tmp_path / "out"))
    assert output.runs is not None
    assert len(output.runs.rows) == 3
    first, second, third = output.runs.rows
    assert first["ratio"] == pytest.approx(4.0 / 0.2)
    assert second["published_error"] is None
    assert [r["same_forest"] for r in output.runs.rows] == ["yes", "yes", "no"]
    notes = " ".join(output.runs.notes)
    assert "in 2 of 3 runs" in notes
    assert "no larger in 2 of 2" in notes
    assert "solved 1 runs" in notes
    assert third["error"] == 0.0
    assert "forests-table-2-runs.csv" in [f.name for f in files]
