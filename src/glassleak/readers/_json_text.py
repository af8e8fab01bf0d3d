"""JSON from strangers: bounded, no NaN, no gigantic integers, typed errors."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from glassleak.errors import MalformedModelError, ModelTooLargeError
from glassleak.readers._limits import Limits


def parse_json(text: str | bytes, limits: Limits, place: str = "file") -> Any:
    """Parse `text`; every failure is a `MalformedModelError` or `ModelTooLargeError`."""
    if len(text) > limits.json_bytes:
        raise ModelTooLargeError(f"more than {limits.json_bytes:,} bytes of JSON", place)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise MalformedModelError("nested too deeply", place) from None
    except ValueError as error:  # also: bad encoding, integers of thousands of digits
        raise MalformedModelError(f"not valid JSON: {error}", place) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
