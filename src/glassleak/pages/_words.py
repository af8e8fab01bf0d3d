"""The fixed words, the guidance and the glossary that come with the package."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from typing import Any


@functools.cache
def load(name: str) -> dict[str, Any]:
    """``data/<name>.toml``."""
    return tomllib.loads(_file(f"{name}.toml"))


@functools.cache
def style_sheet() -> str:
    """The style of every page."""
    return _file("page.css")


def _file(name: str) -> str:
    data = importlib.resources.files("glassleak.pages") / "data" / name
    return data.read_text(encoding="utf-8")


def word(group: str, key: str) -> str:
    """The words for `key`, or the key itself made readable."""
    known = load("words")[group].get(key)
    return str(known) if known is not None else key.replace("_", " ").replace("-", " ")
