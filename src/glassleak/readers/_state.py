"""A fitted object as inert data: names, attributes and arrays, and no code.

Readers and the artefact scan never touch a stranger's objects.  Whatever a model comes in (a live
estimator, a .skops file, a pickle) is first turned into `State`: a tree of plain values in which
every instance is only the *name* of its class and what it held.  Nothing is imported, constructed
or called, so one reader per library serves every container, any version of the library, and
machines on which the library is not installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glassleak.errors import MalformedModelError


@dataclass(eq=False)
class State:
    """What one instance held.

    Attributes
    ----------
    module, name : str
        Of its class, as claimed by the file.
    attributes : dict
        Its ``__dict__`` or the state it was saved with.  Values are None, bool, int, float, str,
        bytes, numpy arrays (object arrays hold values of this same list), lists, tuples, dicts,
        sets, `Reference` and further `State`.
    args : tuple
        Constructor arguments kept with it, if any (Cython objects, pandas containers).
    """

    module: str
    name: str
    attributes: dict[Any, Any] = field(default_factory=dict)
    args: tuple[Any, ...] = ()

    @property
    def package(self) -> str:
        """The top-level package the class claims to come from."""
        return self.module.partition(".")[0]

    @property
    def type_name(self) -> str:
        """Full dotted name of the class."""
        return f"{self.module}.{self.name}"

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, or `default`."""
        return self.attributes.get(name, default)

    def need(self, name: str, kind: type | tuple[type, ...], place: str) -> Any:
        """An attribute that must be there and of a kind; the error names `place`."""
        value = self.attributes.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            wanted = kind.__name__ if isinstance(kind, type) else "/".join(k.__name__ for k in kind)
            raise MalformedModelError(
                f"expected {wanted}, got {type(value).__name__}", f"{place}.{name}"
            )
        return value


@dataclass(frozen=True)
class Reference:
    """A class or function that is only named, such as a callable parameter."""

    module: str
    name: str


@dataclass(frozen=True)
class Visited:
    """One value met on a walk: where it is and who holds it."""

    path: str
    value: Any
    owner: State | None


_NUMBERS = (int, float, type(None))
_KEY_LENGTH = 80


def _short(key: Any) -> str:
    """A key as it appears in paths: a stranger's keys may be megabytes long."""
    text = str(key)
    return text if len(text) <= _KEY_LENGTH else f"{text[:_KEY_LENGTH]}…"


def walk(root: Any, max_values: int = 5_000_000) -> Iterator[Visited]:
    """Every value reachable from `root`, containers before their contents, each object once.

    Files may be cyclic or share objects so that a naive walk never ends; identity is remembered
    and the stack is explicit.
    """
    seen: set[int] = set()
    stack: list[Visited] = [Visited(root.name if isinstance(root, State) else "", root, None)]
    count = 0
    while stack:
        visited = stack.pop()
        value = visited.value
        if isinstance(value, State | list | tuple | dict | set | np.ndarray):
            if id(value) in seen:
                continue
            seen.add(id(value))
        count += 1
        if count > max_values:
            raise MalformedModelError(f"more than {max_values:,} values", visited.path)
        yield visited
        stack.extend(reversed(list(_children(visited))))


def _children(visited: Visited) -> Iterator[Visited]:
    value, path = visited.value, visited.path
    if isinstance(value, State):
        for key, item in value.attributes.items():
            yield Visited(f"{path}.{_short(key)}", item, value)
        for i, item in enumerate(value.args):
            yield Visited(f"{path}.args[{i}]", item, value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield Visited(f"{path}[{_short(repr(key))}]", item, visited.owner)
    elif isinstance(value, list | tuple | set):
        for i, item in enumerate(value):
            # Millions of plain numbers in a list say nothing one by one.
            if not isinstance(item, _NUMBERS):
                yield Visited(f"{path}[{i}]", item, visited.owner)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        for i, item in enumerate(value.ravel()):
            yield Visited(f"{path}[{i}]", item, visited.owner)
