"""Whole numbers of any size as text.

Python refuses to write integers of more than a few thousand digits, to protect programs from input
that takes long to convert.  Tables with tens of thousands of columns have such numbers of profiles.
"""

from __future__ import annotations

import math

_DIGITS = 4000
_CHUNK = 10**_DIGITS
# Beyond this many digits nobody reads a number digit by digit.
_READABLE = 10**15


def decimal_text(number: int) -> str:
    """All digits of a number that is not negative."""
    chunks: list[str] = []
    while number >= _CHUNK:
        number, rest = divmod(number, _CHUNK)
        chunks.append(str(rest).zfill(_DIGITS))
    return "".join([str(number), *reversed(chunks)])


def readable_number(number: int) -> str:
    """``4,608``, or ``2^81.3`` where digits would say nothing."""
    return f"{number:,}" if number < _READABLE else f"2^{math.log2(number):.1f}"
