"""Many models at once: nothing is lost, and one bad file is one line."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import glassleak as gl
from glassleak.errors import AuditError, MissingExtraError
from glassleak.fleet import Entry, audit_folder, find_models, json_schema
from glassleak.models import Exact, Tree


def stump(left: tuple[int, int], right: tuple[int, int]) -> Tree:
    counts = np.array([np.add(left, right), left, right])
    return Tree(
        columns=("age", "sex"), classes=("no", "yes"), feature=[0, -1, -1],
        threshold=[30.5, np.nan, np.nan], left=[1, -1, -1], right=[2, -1, -1],
        counts=Exact(counts),
    )  # fmt: skip


def filled(folder: Path, models: int = 6) -> Path:
    """Models of which every third is to fix, and one file that is damaged."""
    (folder / "deeper").mkdir(parents=True)
    for i in range(models):
        left = (3, 1) if i % 3 == 2 else (40 + i, 25)
        place = folder / "deeper" if i % 2 else folder
        stump(left, (30, 55)).to_json(place / f"model{i:02}.json")
    (folder / "damaged.skops").write_bytes(b"PK\x03\x04 and no more")
    (folder / "README.md").write_text("not a model")
    return folder


def run(folder: Path, out: Path, **options: Any) -> Any:
    return audit_folder(folder, out, budget_seconds=5, **({"backend": "sequential"} | options))


def test_every_model_has_a_result_and_the_damaged_one_an_error(tmp_path: Path) -> None:
    seen: list[tuple[Entry, int, int]] = []
    fleet = run(filled(tmp_path / "in"), tmp_path / "out", progress=lambda *a: seen.append(a))
    assert fleet.totals == {"fix": 2, "refer": 0, "error": 1, "not assessed": 0, "release": 4}
    assert fleet.worst == "fix"
    (damaged,) = [e for e in fleet.entries if e.error]
    assert damaged.file == "damaged.skops"
    assert "damaged.skops" in (damaged.error or "")
    assert damaged.verdict is None
    assert [done for _, done, _ in seen] == list(range(1, 8))
    for entry in fleet.entries:
        if entry.report is not None:
            record = json.loads((tmp_path / "out" / entry.report).read_text())
            assert record["verdict"]["decision"] == entry.verdict
            assert record["model"]["sha256"] == entry.sha256
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    jsonschema.Draft202012Validator.check_schema(json_schema())
    jsonschema.validate(summary, json_schema())
    assert summary["format"] == "glassleak-fleet"
    assert summary["totals"] == fleet.totals
    assert summary["not_looked_at"] == 1
    assert [m["file"] for m in summary["models"]] == list(fleet.found.models)
    lines = list(csv.DictReader(io.StringIO((tmp_path / "out" / "summary.csv").read_text())))
    assert [line["verdict"] for line in lines] == [e.verdict or "" for e in fleet.entries]


def test_what_was_audited_is_not_audited_again(tmp_path: Path, monkeypatch: Any) -> None:
    folder = filled(tmp_path / "in", 3)
    first = run(folder, tmp_path / "out")
    calls: list[str] = []
    one = sys.modules["glassleak.fleet._one"]
    real = one.audit
    monkeypatch.setattr(one, "audit", lambda path, **o: calls.append(path.name) or real(path, **o))
    again = run(folder, tmp_path / "out")
    assert calls == ["damaged.skops"], "only what failed is tried again"
    assert again.entries == first.entries
    calls.clear()
    stump((50, 50), (60, 60)).to_json(folder / "model00.json")
    run(folder, tmp_path / "out")
    assert calls == ["damaged.skops", "model00.json"], "a changed file is audited anew"
    calls.clear()
    strict = run(folder, tmp_path / "out", policy=gl.Policy(min_people=1000))
    assert len(calls) == 4, "and so is everything under another policy"
    assert strict.totals["fix"] == 3
    calls.clear()
    (tmp_path / "out" / "model00.json.audit.json").unlink()
    run(folder, tmp_path / "out", policy=gl.Policy(min_people=1000))
    assert "model00.json" in calls, "a report that is gone is made again"


def test_an_odd_failure_is_one_line(tmp_path: Path, monkeypatch: Any) -> None:
    def broken(path: Path, **_: Any) -> Any:
        raise RuntimeError(f"odd {path.name}")

    monkeypatch.setattr(sys.modules["glassleak.fleet._one"], "audit", broken)
    fleet = run(filled(tmp_path / "in", 2), tmp_path / "out")
    assert {e.error for e in fleet.entries if e.file == "model00.json"} == {
        "RuntimeError: odd model00.json"
    }


def test_results_inside_the_folder_are_no_models(tmp_path: Path) -> None:
    folder = filled(tmp_path / "in", 2)
    run(folder, folder / "results")
    assert len(find_models(folder, without=folder / "results").models) == 3
    assert len(run(folder, folder / "results").entries) == 3


def test_links_and_hidden_files_are_left_out(tmp_path: Path) -> None:
    folder = filled(tmp_path / "in", 1)
    (folder / ".hidden.json").write_text("{}")
    (folder / ".git").mkdir()
    (folder / ".git" / "x.json").write_text("{}")
    (folder / "deeper" / "loop").symlink_to(folder)
    (folder / "link.json").symlink_to(folder / "model00.json")
    assert find_models(folder).models == ("damaged.skops", "model00.json")


def test_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AuditError, match="no folder"):
        run(tmp_path / "none", tmp_path / "out")
    folder = filled(tmp_path / "in", 1)
    with pytest.raises(AuditError, match="no backend 'spark'"):
        run(folder, tmp_path / "out", backend="spark")
    with pytest.raises(AuditError, match="jobs must be at least 1"):
        run(folder, tmp_path / "out", jobs=0)
    with pytest.raises(AuditError, match="has no scheduler"):
        run(folder, tmp_path / "out", scheduler="tcp://localhost:1")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"glassleak\[dask\]"):
        run(folder, tmp_path / "out", backend="dask")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"glassleak\[ray\]"):
        run(folder, tmp_path / "out", backend="ray")
    monkeypatch.setattr(sys.modules["glassleak.fleet._find"], "MOST_FILES", 1)
    with pytest.raises(AuditError, match="more than 1 files"):
        run(folder, tmp_path / "out")


def test_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    fleet = run(tmp_path / "in", tmp_path / "out")
    assert (fleet.entries, fleet.worst) == ((), "release")


def test_formulas_in_names_stay_text(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    stump((40, 25), (30, 55)).to_json(tmp_path / "in" / "=HYPERLINK(1).json")
    text = run(tmp_path / "in", tmp_path / "out").to_csv()
    assert "\n'=HYPERLINK(1).json," in text


def killing(file: str, settings: Any, *, flag: str, always: bool) -> Entry:
    """Like `audit_one`, in a worker that is killed while it is at model02."""
    from glassleak.fleet._one import State, audit_one

    if "model02" in file and (always or not Path(flag).exists()):
        state = State(file, settings)
        if state.begin() <= 2:
            Path(flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        state.path.write_text(state.path.read_text().replace('"attempts": 3', '"attempts": 2'))
    return audit_one(file, settings)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
@pytest.mark.parametrize("always", [False, True])
def test_a_killed_worker_loses_nothing(
    always: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import functools

    deadly = functools.partial(killing, flag=str(tmp_path / "flag"), always=always)
    monkeypatch.setattr(sys.modules["glassleak.fleet._fleet"], "audit_one", deadly)
    fleet = run(filled(tmp_path / "in", 4), tmp_path / "out", backend="loky", jobs=2)
    errors = {e.file: e.error for e in fleet.entries if e.error}
    assert len(fleet.entries) == 5
    if always:
        assert set(errors) == {"damaged.skops", "model02.json"}
        assert "died 2 times" in (errors["model02.json"] or "")
    else:
        assert set(errors) == {"damaged.skops"}


@pytest.mark.slow
def test_fifty_models_one_damaged(tmp_path: Path) -> None:
    fleet = run(filled(tmp_path / "in", 49), tmp_path / "out", backend="loky", jobs=2)
    assert sum(e.verdict is not None for e in fleet.entries) == 49
    assert [e.file for e in fleet.entries if e.error] == ["damaged.skops"]


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_names_that_are_no_text_and_files_nobody_may_read(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "folder.skops").mkdir(parents=True)
    odd = folder / os.fsdecode(b"\xff[bold]\n.json")
    stump((40, 25), (30, 55)).to_json(odd)
    (folder / "empty.skops").touch()
    (folder / "huge.json").write_text('{"format": "glassleak-model", "columns": ' + "[" * 100_000)
    fleet = run(folder, tmp_path / "out", html=True)
    assert [e.verdict for e in fleet.entries] == [None, None, "release"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["totals"]["error"] == 2
    assert r"\udcff" in (tmp_path / "out" / "summary.csv").read_text()
