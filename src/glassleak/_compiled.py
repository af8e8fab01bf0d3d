"""Compile inner loops, and keep the machine code where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as nb


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as machine code that lets other threads run."""
    try:
        fast: Callable[..., Any] = nb.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to keep the compiled code, as in a read-only installation
        fast = nb.njit(nogil=True)(function)
    return fast
