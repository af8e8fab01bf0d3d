"""Sentences of a record: `code` and *emphasis* as their authors meant them."""

from __future__ import annotations

import re

from glassleak.pages._markup import Html, text

_CODE = re.compile(r"`([^`]{1,200})`")
_EMPHASIS = re.compile(r"(?<![\w*])\*([A-Za-z][^*]{0,60})\*(?![\w*])")


def prose(words: str, longest: int = 2_000) -> Html:
    """`words` as text, escaped first, so that nothing but these two marks can become markup."""
    shown = _CODE.sub(r"<code>\1</code>", text(words, longest))
    return Html(_EMPHASIS.sub(r"<em>\1</em>", shown))


def shortened(words: str, longest: int) -> str:
    """`words` cut between words, with a sign that more follows."""
    shown = " ".join(words.split())
    if len(shown) <= longest:
        return shown
    kept = shown[: longest - 1]
    if " " in kept[longest // 2 :]:
        kept = kept[: kept.rfind(" ")].rstrip(" ,;:.")
    return f"{kept}…"


def sentence(words: str, longest: int = 2_000) -> Html:
    """`words` as a sentence: a capital at the start, a full stop at the end."""
    shown = words.strip()
    if shown and shown[-1] not in ".!?…":
        shown += "."
    return prose(shown[:1].upper() + shown[1:], longest)
