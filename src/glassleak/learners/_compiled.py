"""Compile inner loops once, and count bits in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as machine code, kept on disk where that is possible."""
    try:
        fast: Callable[..., Any] = nb.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to keep the compiled code, as in a read-only installation
        fast = nb.njit(nogil=True)(function)
    return fast


@compiled
def ones(word: Any) -> Any:
    """How many bits of a 64-bit word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
