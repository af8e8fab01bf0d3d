"""Names that are markup or terminal controls neither break nor style what the commands print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.cli import main

NAMES = ["[bold]x[/]", "[", "[/]", "[red]RELEASE", "\x1b[2Jgone", "a\nb", ":bomb:", "end\\"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    rng = np.random.RandomState(0)
    table = pd.DataFrame(rng.randint(0, 2, (100, 8)), columns=NAMES)
    target = np.array(NAMES)[rng.randint(0, 8, 100)]
    path = tmp_path / "[bold]x [red]y.skops"
    skops.io.dump(RandomForestClassifier(3, random_state=0).fit(table, target), path)
    return path


def clean(captured: Any) -> str:
    """Standard output, if neither stream holds a control character."""
    for stream in captured:
        assert all(c.isprintable() or c == "\n" for c in stream), repr(stream)
    return str(captured.out)


def test_audit(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = model.parent / "[red]report.json"
    assert main(["audit", str(model), "--json", str(target), "--budget", "5"]) == 1
    out = clean(capsys.readouterr())
    assert "[bold]x [red]y.skops" in out
    assert f"full report: {target}" in out


def test_schema(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = model.parent / "[bold]s.toml"
    assert main(["schema", str(model), "-o", str(target)]) == 0
    out = clean(capsys.readouterr())
    for name in ("[bold]x[/]", "[/]", "[red]RELEASE", "\\x1b[2Jgone", "a\\nb", ":bomb:", "end\\"):
        assert f"  {name}" in out
    assert f"wrote {target}" in out
    assert set(gl.Schema.from_toml(target).columns) == set(NAMES)


def test_convert(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = model.parent / "[red]m.json"
    assert main(["convert", str(model), "-o", str(target)]) == 0
    assert f"wrote {target}" in clean(capsys.readouterr())


@pytest.mark.parametrize("name", ["[/]", "[bold]x", "\x1b[2J", "[", ":bomb:"])
@pytest.mark.parametrize("command", ["audit", "convert", "schema"])
def test_absent_files(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / name)]) == 2
    captured = capsys.readouterr()
    clean(captured)
    assert captured.err.count("\n") == 1
    assert name.replace("\x1b", "\\x1b") in captured.err


@pytest.mark.parametrize("text", ["[/]", "[red]x[/red]", "\x1b]0;t\x07"])
def test_errors_quote_the_file(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = gl.read(RandomForestClassifier(2).fit([[0.0], [1.0]], ["a", "b"])).to_json()
    path = tmp_path / "model.json"
    kind = json.dumps(f"forest{text}")
    path.write_text(document.replace('"kind": "forest"', f'"kind": {kind}'))
    code = main(["audit", str(path)])
    captured = capsys.readouterr()
    clean(captured)
    assert code == 2
    assert "unknown kind" in captured.err


def test_very_long_messages_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.json"
    path.write_text('{"format": "glassleak-model", "version": "' + "v" * 1_000_000 + '"}')
    assert main(["audit", str(path)]) == 2
    assert len(capsys.readouterr().err) < 3000


def test_an_unwritable_place_with_markup(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "[red]absent" / "x.json"
    assert main(["convert", str(model), "-o", str(target)]) == 2
    captured = capsys.readouterr()
    clean(captured)
    assert "[red]absent" in captured.err


def test_demo_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--rows", "300", "--output", str(tmp_path / "[bold]d")]) == 0
    assert "[bold]d" in clean(capsys.readouterr())
