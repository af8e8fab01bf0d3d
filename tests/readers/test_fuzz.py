"""A few hundred damaged files; ``python -m benchmarks fuzz`` opens many more."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
KINDS = {
    "CORELS JSON", "CORELS text", "LightGBM JSON", "LightGBM text", "XGBoost JSON",
    "glassleak JSON", "joblib", "pickle", "skops",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def repository_on_path() -> Iterator[None]:
    """The benchmarks are beside the tests and not installed."""
    sys.path.insert(0, str(ROOT))
    yield
    sys.path.remove(str(ROOT))


@pytest.fixture(scope="module")
def corpus(repository_on_path: None) -> Any:
    from benchmarks._corpus import build

    return build()


def test_the_corpus_is_valid_covers_every_format_and_stays_the_same(
    corpus: Any, tmp_path: Path
) -> None:
    from benchmarks._corpus import build
    from benchmarks._worker import read_damaged

    assert {seed.kind for seed in corpus} == KINDS
    exploits = {"exec.pkl", "eval.pkl", "system.pkl", "instance.pkl"}
    for seed in corpus:
        path = tmp_path / "model.bin"
        path.write_bytes(seed.content)
        # Nothing in an exploit is a model, and XGBoost pickles a binary form of its own.
        binary = seed.kind == "pickle" and seed.name.startswith("xgboost")
        expected = "UnsupportedModelError" if binary or seed.name in exploits else "read"
        assert read_damaged(seed.kind, seed.content, path) == expected, seed.name
    again = {seed.name: seed.content for seed in build()}
    changed = [s.name for s in corpus if again[s.name] != s.content and s.kind == "skops"]
    assert changed == []


def test_the_same_numbers_give_the_same_file(corpus: Any) -> None:
    from benchmarks._mutate import file_number

    files = [file_number(i, 7, corpus) for i in range(40)]
    assert files == [file_number(i, 7, corpus) for i in range(40)]
    assert files != [file_number(i, 8, corpus) for i in range(40)]
    assert sum(content != seed.content for seed, content in files) >= 39


def test_damaged_files_are_refused_or_read_and_nothing_else(corpus: Any) -> None:
    from benchmarks.fuzz import fuzz

    tally = fuzz(corpus, files=300, seed=11)
    assert tally.failures == []
    assert tally.files == 300
    assert set(tally.outcomes) == KINDS
    outcomes = sum(tally.outcomes.values(), start=type(tally.outcomes["skops"])())
    assert outcomes["MalformedModelError"] > 100
    assert outcomes["read"] > 10


def test_damaged_pickles_in_the_sandbox(corpus: Any) -> None:
    from benchmarks.fuzz import fuzz_sandbox

    tally = fuzz_sandbox(corpus, files=3, seed=1)
    assert tally.failures == []
    assert tally.files == 3


def test_the_fuzzer_notices_what_it_is_for(corpus: Any) -> None:
    """With a worker that misbehaves on purpose."""
    from benchmarks.fuzz import fuzz

    tally = fuzz(corpus[:2], files=12, seed=0, worker="fuzz_saboteur", patience=3)
    found = {index: problem for index, _, problem in sorted(tally.failures)}
    assert "KeyError: 'untyped'" in found[0]
    assert "RecursionError" in found[1]
    assert "os.system" in found[2]
    assert "exec" in found[3]
    assert "import" in found[4]
    # Seen from outside, so on a busy machine perhaps a file early.
    assert "code in the file was run" in found[4] + found[5]
    assert "MB" in found[6]
    assert "still busy after 3 seconds" in found[7]
    assert "the process ended with -11" in found[9]
    assert set(found) == {0, 1, 2, 3, 4, 5, 6, 7, 9}
    assert tally.files == 12
