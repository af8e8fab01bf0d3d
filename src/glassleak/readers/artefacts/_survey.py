"""One walk over a fitted object, sorted by what the detectors look for.

Containers of other libraries (a pandas frame, a sparse matrix) are dozens of nested states but one
thing to an output checker, so their insides are kept apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glassleak.readers._state import Reference, State, Visited, walk

_FRAMES = {"pandas", "polars", "pyarrow"}
_FRAME_NAME = re.compile(
    r"^(DataFrame|Series|\w*Index|_new_\w*Index|Table|ChunkedArray|Categorical|\w+Array"
    r"|_unpickle_block|__pyx_unpickle_\w+)$"
)
_SPARSE_NAME = re.compile(r"^(bsr|coo|csc|csr|dia|dok|lil)_(matrix|array)$")
_ATTRIBUTE = re.compile(r"^\.([^.\[]+)|^\['([^']*)'\]")
# Paths and documents of several lines; names of columns and settings are neither.
_TELLING = re.compile(r"[/\\\n]")
_NUMBERS = frozenset((int, float, bool, type(None)))
_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Table:
    """A frame, series, index or sparse matrix, and every value inside it but single numbers."""

    visited: Visited
    state: State
    parts: list[Visited] = field(default_factory=list)

    @property
    def sparse(self) -> bool:
        """Whether it is a scipy sparse matrix."""
        return self.state.package == "scipy"


@dataclass(frozen=True)
class TypeSeen:
    """A class or function the object names."""

    module: str
    name: str
    path: str
    built: bool
    """Whether the object holds an instance (a load would build or call it), or only its name."""


@dataclass
class Survey:
    """Everything met on the walk, apart from numbers and short texts of no interest."""

    states: list[Visited] = field(default_factory=list)
    arrays: list[Visited] = field(default_factory=list)
    sequences: list[Visited] = field(default_factory=list)
    mappings: list[Visited] = field(default_factory=list)
    texts: list[Visited] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    types: dict[tuple[str, str, bool], TypeSeen] = field(default_factory=dict)
    paths: dict[int, str] = field(default_factory=dict)
    _owned: dict[int, list[Any]] = field(default_factory=dict)

    def inside_owner(self, visited: Visited) -> str:
        """The path from the owning state on, such as ``.bin_edges_[3]``."""
        if visited.owner is None:
            return visited.path
        return visited.path[len(self.paths.get(id(visited.owner), "")) :]

    def attribute(self, visited: Visited) -> str:
        """The owner's attribute that holds the value, possibly deeper down.

        In a document, which has no owners, it is the top-level key.
        """
        match = _ATTRIBUTE.match(self.inside_owner(visited))
        return (match.group(1) or match.group(2)) if match else ""

    def is_direct(self, visited: Visited) -> bool:
        """Whether the value is an attribute of its owner and not nested in one."""
        match = _ATTRIBUTE.match(inside := self.inside_owner(visited))
        return match is not None and match.group(0) == inside

    def place(self, visited: Visited) -> tuple[str, str]:
        """The kind of place: equal for the same attribute of a thousand trees."""
        owner = visited.owner.type_name if visited.owner is not None else ""
        return owner, _INDEX.sub("[*]", self.inside_owner(visited))

    def arrays_of(self, state: State) -> list[Any]:
        """The arrays `state` holds, at any depth short of another state."""
        return self._owned.get(id(state), [])

    def held_by(self, name: str) -> Iterator[tuple[Visited, State]]:
        """States that have an attribute `name`, with where they are."""
        for visited in self.states:
            if name in visited.value.attributes:
                yield visited, visited.value


def take_survey(root: Any) -> Survey:
    """Walk `root` once."""
    survey = Survey()
    table: Table | None = None
    for visited in walk(root):
        value = visited.value
        if type(value) in _NUMBERS:
            continue
        # The walk is depth first, so what is inside a table follows it without a gap.
        if table is not None and not _is_inside(visited, table):
            table = None
        if isinstance(value, State):
            _note_type(survey, value.module, value.name, visited.path, built=True)
            survey.paths[id(value)] = visited.path
        elif isinstance(value, Reference):
            _note_type(survey, value.module, value.name, visited.path, built=False)
        if table is not None:
            table.parts.append(visited)
        elif isinstance(value, State) and _is_table(value):
            table = Table(visited, value)
            survey.tables.append(table)
        else:
            _sort_in(survey, visited)
    return survey


def _sort_in(survey: Survey, visited: Visited) -> None:
    value = visited.value
    if isinstance(value, State):
        survey.states.append(visited)
    elif isinstance(value, np.ndarray):
        survey.arrays.append(visited)
        if visited.owner is not None:
            survey._owned.setdefault(id(visited.owner), []).append(value)
    elif isinstance(value, list | tuple | set):
        if len(value) > 1:
            survey.sequences.append(visited)
    elif isinstance(value, dict):
        survey.mappings.append(visited)
    elif isinstance(value, str) and len(value) > 5 and _TELLING.search(value):
        survey.texts.append(visited)


def _note_type(survey: Survey, module: Any, name: Any, path: str, *, built: bool) -> None:
    seen = TypeSeen(str(module), str(name), path, built)
    survey.types.setdefault((seen.module, seen.name, built), seen)


def _is_inside(visited: Visited, table: Table) -> bool:
    start = table.visited.path
    return visited.path.startswith(start) and visited.path[len(start) : len(start) + 1] in (
        ".",
        "[",
    )


def _is_table(state: State) -> bool:
    if state.package in _FRAMES:
        return _FRAME_NAME.match(state.name) is not None
    return state.module.startswith("scipy.sparse") and _SPARSE_NAME.match(state.name) is not None
