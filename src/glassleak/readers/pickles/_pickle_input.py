"""What a pickle may cost: reading within bounds, counting steps and bytes, measuring nesting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from glassleak.errors import MalformedModelError, ModelTooLargeError
from glassleak.readers._limits import Limits
from glassleak.readers._state import State

# A value takes up to four instructions (push, memoize, wrap in a tuple, append).
_STEPS_PER_VALUE: Final = 6
_FREE_STEPS: Final = 10_000


class Input:
    """Bytes with a position that never reads past their end.

    Attributes
    ----------
    data : bytearray
    position, end : int
    """

    def __init__(self, data: bytearray) -> None:
        self.data = data
        self.end = len(data)
        self.position = 0
        self._view = memoryview(data).toreadonly()

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return self.end - self.position

    def take(self, size: int) -> memoryview:
        """The next `size` bytes, as a view and not a copy."""
        start = self.position
        if size > self.end - start:
            raise MalformedModelError(f"the file ends where {size:,} bytes should follow")
        self.position = start + size
        return self._view[start : start + size]

    def peek(self, size: int) -> memoryview:
        """The next bytes (fewer at the end) without moving on."""
        return self._view[self.position : self.position + size]

    def byte(self) -> int:
        """The next byte as a number."""
        return self.take(1)[0]

    def unsigned(self, size: int) -> int:
        """The next `size` bytes as a little-endian number."""
        return int.from_bytes(self.take(size), "little")

    def line(self, longest: int) -> bytes:
        """Up to the next newline, which is dropped."""
        start = self.position
        stop = self.data.find(b"\n", start, start + longest + 1)
        if stop < 0:
            raise MalformedModelError("a line without end")
        self.position = stop + 1
        return bytes(self._view[start:stop])


class Budget:
    """Steps and bytes still to be spent; copying a large value again and again costs each time.

    Attributes
    ----------
    steps, copied_bytes : int
        What is left.
    """

    def __init__(self, limits: Limits) -> None:
        self.steps = _FREE_STEPS + _STEPS_PER_VALUE * limits.values
        self.copied_bytes = limits.unpacked_bytes

    def spend_steps(self, steps: int) -> None:
        """Account for work on `steps` values."""
        self.steps -= steps
        if self.steps < 0:
            raise ModelTooLargeError("more values than any model of allowed size needs")

    def spend_bytes(self, size: int) -> None:
        """Account for `size` bytes of arrays or texts."""
        self.copied_bytes -= size
        if self.copied_bytes < 0:
            raise ModelTooLargeError("more bytes than allowed once everything is unpacked")


def check_extent(root: Any, limits: Limits) -> None:
    """Raise when `root` holds too many values or is nested too deeply.

    The longest path counts and not the first one found: a value may be reached by a short way and
    by a long one.  Objects are visited once, so shared ones cost nothing and cycles end.
    """
    count = 0
    height: dict[int, int] = {}  # of finished containers; 0 while they are being visited
    stack: list[tuple[int, Iterator[Any]]] = []
    best: list[int] = [0]  # the highest child so far, for every container on the stack
    waiting: Any = root
    descend = _is_container(root)
    while descend or stack:
        if descend:
            if len(stack) >= limits.nesting:
                raise ModelTooLargeError(f"nested deeper than {limits.nesting}", "pickle")
            height[id(waiting)] = 0
            children = _children(waiting)
            count += len(children)
            if count > limits.values:
                raise ModelTooLargeError(f"more than {limits.values:,} values", "pickle")
            stack.append((id(waiting), iter(children)))
            best.append(0)
        descend = False
        for child in stack[-1][1]:
            if not _is_container(child):
                continue
            known = height.get(id(child))
            if known is None:
                waiting, descend = child, True
                break
            best[-1] = max(best[-1], known)
        if not descend:
            finished, _ = stack.pop()
            height[finished] = own = best.pop() + 1
            best[-1] = max(best[-1], own)
            if len(stack) + own > limits.nesting:
                raise ModelTooLargeError(f"nested deeper than {limits.nesting}", "pickle")


def _is_container(value: Any) -> bool:
    return isinstance(value, State | list | tuple | dict) or (
        isinstance(value, np.ndarray) and value.dtype.hasobject
    )


def _children(value: Any) -> list[Any]:
    if isinstance(value, State):
        return [*value.attributes.values(), *value.args]
    if isinstance(value, dict):
        return list(value.values())
    return list(value.ravel()) if isinstance(value, np.ndarray) else list(value)
