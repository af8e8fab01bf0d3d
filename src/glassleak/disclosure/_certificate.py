"""What vouches for an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["closed form", "convex optimum", "local"]
# An estimate counts as the maximum if it is this close per person, and breaks no fact by more.
ENOUGH = 1e-6


@dataclass(frozen=True)
class Certificate:
    """How the estimate was found, and how far it can be from the maximum entropy.

    Attributes
    ----------
    kind : "closed form", "convex optimum" or "local"
        A local optimum may be one of several.
    gap : float
        At most so far below the maximum entropy, in nats summed over people; computed from dual
        variables, not taken from the solver.
    violation : float
        The most any candidate split is better than the chosen one at this estimate, per person of
        its node, or by which a published number is missed, as a share of all people.
    candidates : int
        Candidate splits that were looked at.
    active : tuple of str
        Those that had to be written down, in words.
    people : int
    finished : bool
        Whether every fact that was to be used is satisfied.
    """

    kind: Kind
    gap: float = 0.0
    violation: float = 0.0
    candidates: int = 0
    active: tuple[str, ...] = ()
    people: int = 1
    finished: bool = True

    @property
    def proved(self) -> bool:
        """Whether this is the maximum, to six digits per person."""
        close = self.gap <= ENOUGH * self.people and self.violation <= ENOUGH
        return self.finished and close and self.kind != "local"

    def __str__(self) -> str:
        if self.kind == "closed form":
            return self.kind
        return f"{self.kind} (gap {'at most ' if self.kind == 'local' else ''}{self.gap:.1e} nats)"

    def to_document(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "kind": self.kind,
            "proved": self.proved,
            "gap_nats": self.gap,
            "violation": self.violation,
            "candidate_splits": self.candidates,
            "active_split_facts": list(self.active),
            "finished": self.finished,
        }
