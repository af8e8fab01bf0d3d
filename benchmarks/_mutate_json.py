"""Damage JSON and text: values that break assumptions, in places that matter."""

from __future__ import annotations

import json
import random
import re
from typing import Any

# Values that break assumptions: signs, sizes, kinds.
NUMBERS = (0, -1, 1, 2, 7, 255, 2**31 - 1, 2**31, 2**32, 2**40, 2**53 + 1, 2**63, 2**64, 10**30,
           10**400, -(2**63), 0.5, -0.0, 1e-320, 1e16, 1e308, -1e308)  # fmt: skip
ODD = (None, True, False, "", "a", "NaN", "-1", "1e999", "[/]\x1b[2J", "\ud800", "x" * 5000, [], {},
       [[]], [None], {"a": 1}, [0] * 3)  # fmt: skip
TOKENS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "[" * 3000 + "]" * 3000, "1" * 5000,
          '{"a":' * 500 + "1" + "}" * 500)  # fmt: skip
_MARK = "@glassleak-fuzz@"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_TEXT_NUMBERS = ("-1", "0", "99999999999999999999", "1e308", "1e999", "nan", "inf", "-inf", "0x10",
                 "", "1" * 400, "٣", "1_0", "+5", " ", "-0", "2147483648")  # fmt: skip


def odd_value(rng: random.Random) -> Any:
    """A value nobody expects."""
    return rng.choice(NUMBERS) if rng.random() < 0.5 else rng.choice(ODD)


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a document."""
    found: list[tuple[Any, Any]] = []
    stack = [document]
    while stack:
        value = stack.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            found.append((value, key))
            if isinstance(value[key], dict | list):
                stack.append(value[key])
    return found


def damage_json(rng: random.Random, content: bytes) -> bytes:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if not isinstance(document, dict | list) or not document:
        return content
    token = change_json(rng, document)
    text = json.dumps(document)
    if token is not None:
        text = text.replace(json.dumps(_MARK), token)
    return text.encode()


def change_json(rng: random.Random, document: Any) -> str | None:
    """Change one place; returns raw text to put where the mark is, if any."""
    places = _places(document)
    holder, key = rng.choice(places)
    kind = rng.randrange(9)
    if kind == 0:
        holder[key] = rng.choice(NUMBERS)
    elif kind == 1:
        holder[key] = rng.choice(ODD)
    elif kind == 2:
        holder[key] = _MARK
        return rng.choice(TOKENS)
    elif kind == 3:
        other, elsewhere = rng.choice(places)
        holder[key], other[elsewhere] = other[elsewhere], holder[key]
        if _cyclic(document):
            holder[key] = None
            other[elsewhere] = None
    elif kind == 4:
        del holder[key]
    elif kind == 5 and isinstance(holder, list):
        holder[key:key] = [holder[key]] * rng.choice((1, 3, 1000))
    elif kind == 6 and isinstance(holder[key], str):
        holder[key] = damage_text(rng, holder[key].encode("utf-8", "replace")).decode(
            "utf-8", "replace"
        )
    elif kind == 7 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
        holder[key] = holder[key] + rng.choice((-1, 1, 0.5, 1e-7))
    elif isinstance(holder, dict):
        holder[rng.choice(("x", "", "__id__", "kind", str(key) * 2))] = holder.pop(key)
    return None


def _cyclic(document: Any) -> bool:
    try:
        json.dumps(document)
    except ValueError:
        return True
    return False


def damage_text(rng: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    kind = rng.randrange(5)
    numbers = list(_NUMBER.finditer(text))
    lines = text.split("\n")
    if kind <= 1 and numbers:
        match = rng.choice(numbers)
        text = text[: match.start()] + rng.choice(_TEXT_NUMBERS) + text[match.end() :]
    elif kind == 2:
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
        text = "\n".join(lines)
    elif kind == 3:
        del lines[rng.randrange(len(lines))]
        text = "\n".join(lines)
    else:
        i = rng.randrange(len(lines))
        lines[i:i] = [lines[i]] * rng.choice((1, 2, 500))
        text = "\n".join(lines)
    return text.encode("utf-8", "replace")
