from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from fake_runs import bagged_record_of, record_of

from glassleak.cli import _paper
from glassleak.papers._reference import REFERENCE
from glassleak.papers.forests import _bagging_campaign, _campaign
from glassleak.papers.forests._setting import Run


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    runs: list[Run] = []

    def invented(run: Run, budget: float) -> dict[str, object]:
        runs.append(run)
        return record_of(run, budget)

    monkeypatch.delenv(REFERENCE, raising=False)
    monkeypatch.setattr(_campaign, "execute", invented)
    monkeypatch.setattr(_bagging_campaign, "execute", bagged_record_of)
    return runs


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    _paper.add_arguments(parser)
    return _paper.run(parser.parse_args(words))


def test_without_a_number_it_lists_what_there_is(
    capsys: pytest.CaptureFixture[str], asked: list[Run]
) -> None:
    assert command("forests") == 0
    shown = capsys.readouterr().out
    assert "--figure 2" in shown
    assert "--table 8" in shown
    assert "not reproduced" in shown
    assert asked == []
    assert command("forests", "--json") == 0
    assert {"item": "table 2", "about": "time and failures by depth, 100 trees"} in json.loads(
        capsys.readouterr().out
    )


def test_a_table_is_shown_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "folder"
    assert command("forests", "--table", "2", "--out", str(folder)) == 0
    shown = capsys.readouterr().out
    assert "Table 2" in shown
    assert "6,040" in shown
    assert "ratio" in shown
    assert f"wrote {folder / 'forests-table-2.md'}" in shown
    assert len((folder / "forests-runs.jsonl").read_text().splitlines()) == 24


def test_json_is_a_document_per_item(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command("forests", "--table", "6", "--figure", "4", "--out", str(tmp_path), "--json")
    documents = json.loads(capsys.readouterr().out)
    assert [d["item"] for d in documents] == ["table 6", "figure 4"]
    assert documents[0]["rows"][0]["paper_seconds"] == 5.8
    assert all(Path(f).is_file() for d in documents for f in d["files"])


def test_an_unknown_number_names_those_there_are() -> None:
    with pytest.raises(_paper.UnknownItemError, match=r"no table 4 .* table 2, table 3"):
        command("forests", "--table", "4")


@pytest.mark.parametrize(
    "words",
    [["nothing"], ["forests", "--budget", "0"], ["forests", "--budget", "inf"],
     ["forests", "--table", "two"], ["forests", "--preset", "slow"], []],
)  # fmt: skip
def test_wrong_use_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command(*words)
    assert caught.value.code == 2


def test_finished_runs_are_kept_unless_fresh(tmp_path: Path, asked: list[Run]) -> None:
    words = ("forests", "--table", "8", "--out", str(tmp_path))
    command(*words)
    first = len(asked)
    assert first > 0
    command(*words)
    assert len(asked) == first
    command(*words, "--fresh")
    assert len(asked) == 2 * first


def test_options_reach_the_runs(tmp_path: Path, asked: list[Run]) -> None:
    command("forests", "--table", "5", "--preset", "full", "--ours-only", "--out", str(tmp_path))
    assert {run.formulation for run in asked} == {"auto"}
    assert {run.seed for run in asked} == {0, 1, 2, 3, 4}


def test_an_interruption_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(run: Run, budget: float) -> dict[str, object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(_campaign, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        command("forests", "--table", "8", "--out", str(tmp_path))
    assert "the same command continues" in " ".join(capsys.readouterr().err.split())
