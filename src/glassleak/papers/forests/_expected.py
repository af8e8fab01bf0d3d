"""What the paper reports, and (when they are at hand) the runs behind it."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable
from importlib import resources
from typing import Any, TypeAlias

from glassleak.papers._reference import MissingReferenceError, reference_file
from glassleak.papers.forests._setting import Run

Line: TypeAlias = dict[str, Any]

RUNS_FILE = "forest_reconstruction_published.csv"
_METHODS = {"rows-cp": "cp-sat", "auto": "cp-sat", "rows-milp": "milp"}
_WHOLE = (
    "max_depth", "n_trees", "n_rows", "seed", "table", "runs", "unsolved", "unsolved_bagging",
)  # fmt: skip
_TEXT = ("dataset", "formulation", "method", "status", "bagging")


@functools.cache
def _file(name: str) -> tuple[Line, ...]:
    source = resources.files("glassleak.papers.forests").joinpath("expected", f"{name}.csv")
    return _parse(source.read_text(encoding="utf-8").splitlines())


def expected(name: str, **fields: Any) -> list[Line]:
    """The lines of a file of published values with these fields.

    An empty entry is ``None``; as ``max_depth`` that means no limit.
    """
    return [
        line for line in _file(name) if all(line[key] == value for key, value in fields.items())
    ]


def lookup(name: str, **fields: Any) -> Line:
    """The one line of a file of published values with these fields."""
    (line,) = expected(name, **fields)
    return line


class PublishedRuns:
    """The authors' runs without bagging, by forest and method."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._runs = {
            (r["method"], r["dataset"], r["max_depth"], r["n_trees"], r["seed"]): r
            for r in lines
            if r["bagging"] != "True"
        }

    def same_as(self, run: Run) -> Line | None:
        """The authors' run on the same forest; for ours the one with their main formulation."""
        method = _METHODS[run.formulation]
        return self._runs.get((method, run.dataset, run.max_depth, run.n_trees, run.seed))


def published_runs() -> PublishedRuns | None:
    """The authors' runs, if ``GLASSLEAK_REFERENCE`` says where they are."""
    found = reference_file(RUNS_FILE)
    if found is None:
        return None
    try:
        return PublishedRuns(_parse(found.read_text(encoding="utf-8").splitlines()))
    except (KeyError, ValueError) as error:
        raise MissingReferenceError(f"{found.name} is not the authors' file: {error}") from None


def _parse(lines: Iterable[str]) -> tuple[Line, ...]:
    reader = csv.DictReader(line for line in lines if not line.startswith("#"))
    return tuple({key: _value(key, text) for key, text in line.items()} for line in reader)


def _value(key: str, text: str) -> str | int | float | None:
    if key in _TEXT:
        return text
    if text in ("", "None"):
        return None
    # Counts may be written as 2.0.
    return int(float(text)) if key in _WHOLE else float(text)
