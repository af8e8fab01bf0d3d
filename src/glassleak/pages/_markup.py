"""HTML by construction: text is escaped unless this module made it.

There is no template to forget an escape in.  Names in a stranger's model become text and nothing
else, whatever they contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from glassleak._printable import printable

_EMPTY = frozenset({"br", "hr", "meta", "rect", "line", "path", "circle", "polygon", "polyline"})
_LONGEST = 2_000
# A path, with every byte spelt out in an address, must not be cut.
_LONGEST_ATTRIBUTE = 20_000
_SPACE = re.compile(r"\s+")


class Html(str):
    """Markup that is already escaped; made by `tag` and `join` only."""

    __slots__ = ()


Child: TypeAlias = "Html | str | int | Iterable[Child] | None"


def text(value: object, longest: int = _LONGEST) -> Html:
    """`value` as text: on one line, control characters spelt out, cut if very long, escaped."""
    return Html(escape(printable(_SPACE.sub(" ", str(value)), longest)))


def join(*children: Child) -> Html:
    """The children one after the other; what is not `Html` is escaped."""
    return Html("".join(_parts(children)))


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Html:
    """One element.

    ``class_`` and ``for_`` lose their underscore, other underscores become hyphens; ``None`` and
    ``False`` leave an attribute out, ``True`` writes it without a value.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Html(f"<{name}{written}>" if name in {"br", "hr", "meta"} else f"<{name}{written}/>")
    return Html(f"<{name}{written}>{''.join(_parts(children))}</{name}>")


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    # SVG knows attributes in camel case; those pass unchanged.
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(printable(shown, _LONGEST_ATTRIBUTE))}"'


def _parts(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            yield child
        elif isinstance(child, str | int):
            yield text(child)
        else:
            yield from _parts(child)
