"""JSON from strangers: bounded, only numbers and text that can be used, typed errors."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from glassleak.errors import MalformedModelError, ModelTooLargeError
from glassleak.readers._limits import Limits

# What a parsed document takes, at least in order of magnitude: CPython's objects per character
# that starts or separates them.  A megabyte of "[],[],…" becomes twenty.
_BYTES_PER = {"{": 200, "[": 64, ",": 40}
# Numbers beyond floats can only be written with a large exponent or very many digits.
_PERHAPS_TOO_LARGE = re.compile(r"[0-9](?:[eE]\+?[0-9]{3}|[0-9]{299})")
_MAX_INTEGER = 2**1000
_PERHAPS_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(
    text: str | bytes, limits: Limits, place: str = "file", *, constants: bool = False
) -> Any:
    """Parse `text`; every failure is a `MalformedModelError` or `ModelTooLargeError`.

    Parameters
    ----------
    constants : bool
        Let ``NaN`` and ``Infinity`` pass, which Python writes and JSON does not know.
    """
    if len(text) > limits.json_bytes:
        raise ModelTooLargeError(f"more than {limits.json_bytes:,} bytes of JSON", place)
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        _check_memory(text, limits, place)
        hooks: dict[str, Any] = {} if constants else {"parse_constant": _refuse_constant}
        if _PERHAPS_TOO_LARGE.search(text):
            hooks |= {"parse_float": _float, "parse_int": _int}
        value = json.loads(text, **hooks)
        if _PERHAPS_SURROGATE.search(text):
            # Half a character cannot be written to a terminal or a file again.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise MalformedModelError("nested too deeply", place) from None
    except MemoryError:
        raise ModelTooLargeError("parsing it takes more memory than there is", place) from None
    except ValueError as error:  # also: bad encoding, integers of thousands of digits
        raise MalformedModelError(f"not valid JSON: {error}", place) from None
    return value


def _check_memory(text: str, limits: Limits, place: str) -> None:
    needed = len(text) + sum(text.count(mark) * size for mark, size in _BYTES_PER.items())
    if needed > limits.memory_bytes:
        raise ModelTooLargeError(
            f"parsing it would take about {needed:,} bytes, over {limits.memory_bytes:,}", place
        )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError("a number is too large")
    return value


def _int(digits: str) -> int:
    value = int(digits)
    if abs(value) > _MAX_INTEGER:
        raise ValueError("a whole number is too large")
    return value
