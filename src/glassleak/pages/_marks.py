"""Shapes and badges: what a colour says is also said by a form and a word."""

from __future__ import annotations

from typing import Any

from glassleak.pages._markup import Html, tag
from glassleak.pages._words import word

_SHAPES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "release": [
        ("circle", {"cx": 24, "cy": 24, "r": 21, "class_": "body"}),
        ("path", {"d": "M14 25 l7 7 l14 -16", "class_": "sign"}),
    ],
    "fix": [
        ("path", {"d": "M15 3 H33 L45 15 V33 L33 45 H15 L3 33 V15 Z", "class_": "body"}),
        ("path", {"d": "M16 16 L32 32 M32 16 L16 32", "class_": "sign"}),
    ],
    "refer": [
        ("path", {"d": "M24 4 L46 43 H2 Z", "class_": "body"}),
        ("path", {"d": "M24 17 V30 M24 35.5 V36.5", "class_": "sign"}),
    ],
    "not assessed": [
        ("path", {"d": "M24 2 L46 24 L24 46 L2 24 Z", "class_": "body"}),
        ("path", {"d": "M18.5 20 a5.5 5.5 0 1 1 8 5 q-2.5 1.4 -2.5 4 M24 34 V35",
                  "class_": "sign"}),
    ],
    "error": [
        ("path", {"d": "M5 5 H43 V43 H5 Z", "class_": "body"}),
        ("path", {"d": "M15 24 H33", "class_": "sign"}),
    ],
}  # fmt: skip
_STATUS_TONE = {"done": "done", "partial": "partial", "failed": "failed"}


def shape(decision: str) -> Html:
    """The sign of a decision or "error"; the word beside it says the same."""
    parts = [tag(name, **attributes) for name, attributes in _SHAPES[decision]]
    return tag("svg", parts, viewBox="0 0 48 48", class_="shape", aria_hidden="true")


def tone(decision: str) -> str:
    """The class that colours a decision."""
    return decision.replace(" ", "-")


def effect_badge(effect: str) -> Html:
    """What a finding means for the decision."""
    return tag("span", word("effect", effect), class_=f"badge {effect}")


def status_badge(status: str) -> Html:
    """Whether a question was answered."""
    return tag(
        "span", word("status", status), class_=f"badge status-{_STATUS_TONE.get(status, 'open')}"
    )
