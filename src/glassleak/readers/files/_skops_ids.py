"""Check that every id in a .skops file stands for one object only.

skops builds the first node of an id that it comes across and takes it for all others, in an order
that depends on the types.  A file that reuses an id for something else could show glassleak one
model and whoever loads it another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glassleak.errors import MalformedModelError, ModelTooLargeError

# An object that is written twice has new ids inside, because its state is made anew each time.
_NAMES_ONLY = ("__id__", "file")


def check_ids(schema: dict[str, Any], most: int, same_file: Callable[[str, str], bool]) -> None:
    """Raise when two different nodes claim the same ``__id__``.

    Parameters
    ----------
    schema : dict
        The whole description.
    most : int
        Values to look at before the file is refused.
    same_file : callable
        Whether two members of the archive hold the same bytes.
    """
    first: dict[int, Any] = {}
    stack: list[Any] = [schema]
    comparison = _Comparison(most, same_file)
    while stack:
        value = stack.pop()
        comparison.spend()
        if isinstance(value, list):
            stack.extend(item for item in value if isinstance(item, dict | list))
            continue
        inner = [item for item in value.values() if isinstance(item, dict | list)]
        stack.extend(inner)
        known = value.get("__id__")
        if known is None or value.get("__loader__", "CachedNode") == "CachedNode":
            continue
        if not isinstance(known, int):
            raise MalformedModelError("an id that is no number", "schema.json")
        earlier = first.setdefault(known, value)
        # Mostly the same plain value again, which Python's own comparison settles at once.
        if earlier is value or (not inner and earlier == value):
            continue
        if not comparison.equal(earlier, value):
            raise MalformedModelError(f"two different objects claim the id {known}", "schema.json")


class _Comparison:
    def __init__(self, most: int, same_file: Callable[[str, str], bool]) -> None:
        self.left, self.same_file = most, same_file

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise ModelTooLargeError("too many values", "schema.json")

    def equal(self, one: Any, other: Any) -> bool:
        """Whether two nodes describe the same, whatever ids they use inside."""
        stack = [(one, other)]
        while stack:
            a, b = stack.pop()
            self.spend()
            if type(a) is not type(b):
                return False
            if isinstance(a, dict):
                if a.keys() != b.keys():
                    return False
                stack.extend((a[key], b[key]) for key in a if key not in _NAMES_ONLY)
                files = a.get("file"), b.get("file")
                if not self._same(*files):
                    return False
            elif isinstance(a, list):
                if len(a) != len(b):
                    return False
                stack.extend(zip(a, b, strict=True))
            elif a != b:
                return False
        return True

    def _same(self, a: Any, b: Any) -> bool:
        if isinstance(a, str) and isinstance(b, str) and a != b:
            return self.same_file(a, b)
        return type(a) is type(b) and a == b
