"""Text from strangers made fit for a terminal.

A column, class or file may be called anything, including an escape sequence that clears the screen
and prints another verdict.
"""

from __future__ import annotations

_LONGEST = 400


def printable(text: object, longest: int = _LONGEST) -> str:
    """`text` on one line, with whatever is not a visible character spelt out, cut if very long."""
    shown = str(text)
    if len(shown) > longest:
        shown = f"{shown[: longest - 1]}…"
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
