from __future__ import annotations

from pathlib import Path

import pytest

from glassleak.errors import GlassleakError
from glassleak.papers._run_log import RunLog, RunLogError

FIELDS = ("dataset", "seed")


def filled(path: Path, count: int = 3) -> RunLog:
    log = RunLog(path, FIELDS)
    for seed in range(count):
        log.add({"dataset": "adult", "seed": seed, "error": seed / 10})
    return log


def test_a_second_log_sees_what_the_first_wrote(tmp_path: Path) -> None:
    filled(tmp_path / "runs.jsonl")
    log = RunLog(tmp_path / "runs.jsonl", FIELDS)
    assert len(log) == 3
    assert log.get({"dataset": "adult", "seed": 2}) == {"dataset": "adult", "seed": 2, "error": 0.2}
    assert log.get({"dataset": "compas", "seed": 2}) is None


def test_a_later_record_replaces_an_earlier_one(tmp_path: Path) -> None:
    log = filled(tmp_path / "runs.jsonl")
    log.add({"dataset": "adult", "seed": 1, "error": 0.0})
    for view in (log, RunLog(log.path, FIELDS)):
        assert len(view) == 3
        record = view.get({"dataset": "adult", "seed": 1})
        assert record is not None
        assert record["error"] == 0.0


@pytest.mark.parametrize("lost", [1, 5, 20])
def test_half_a_line_at_the_end_is_dropped_and_not_joined(tmp_path: Path, lost: int) -> None:
    log = filled(tmp_path / "runs.jsonl")
    log.path.write_bytes(log.path.read_bytes()[:-lost])
    again = RunLog(log.path, FIELDS)
    assert len(again) == 2
    again.add({"dataset": "adult", "seed": 7})
    assert len(RunLog(log.path, FIELDS)) == 3


@pytest.mark.parametrize("line", ["not json", "[1, 2]", '{"dataset": "adult"}', "3", '{"a": '])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    log = filled(tmp_path / "runs.jsonl", 1)
    log.path.write_text(log.path.read_text() + line + "\n")
    with pytest.raises(RunLogError, match="line 2") as caught:
        RunLog(log.path, FIELDS)
    assert isinstance(caught.value, GlassleakError)
