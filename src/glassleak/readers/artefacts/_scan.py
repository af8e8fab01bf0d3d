"""One walk over a fitted object's inert state, offered to every detector."""

from __future__ import annotations

from typing import Any

from glassleak.models import Model
from glassleak.readers._state import walk
from glassleak.readers.artefacts._artefact import SEVERITIES, Artefact


def scan(root: Any, model: Model | None = None) -> tuple[Artefact, ...]:
    """Everything the object keeps about its training rows, gravest first.

    Parameters
    ----------
    root : State or other inert value
        A fitted object as data (`state_of`, or what a container reader returns).
    model : Tree, Forest or RuleList, optional
        The same object as a model, where a reader understands it.
    """
    found: list[Artefact] = []
    for _ in walk(root):
        pass
    rank = {severity: i for i, severity in enumerate(reversed(SEVERITIES))}
    return tuple(sorted(found, key=lambda a: (rank[a.severity], a.where, a.kind)))
