"""The thresholds an audit decides by, each with the reason it is what it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from glassleak.errors import AuditError

_REASONS = {
    "min_people": "Statistical disclosure control commonly asks for at least 10 people behind "
    "every published count; smaller groups point at individuals.",
    "allow_pure_leaves": "When everybody in a group has the same class, knowing that someone "
    "belongs to the group reveals their class (group disclosure).",
    "max_expected_share": "Extraction must be insignificant also where it is only probable (EDPB "
    "Opinion 28/2024); a person should look when more rows than this are likely to be right.",
    "allow_small_classes": "A class with few people inside a larger group is a small cell of the "
    "table (group x class).",
}


@dataclass(frozen=True)
class Policy:
    """What the audit lets pass.

    Parameters
    ----------
    min_people : int
        Fewest people a published leaf, rule, or class within one may describe.
    allow_pure_leaves : bool
        Whether leaves in which everybody has the same class may be published.
    allow_small_classes : bool
        Whether a class inside a large enough leaf may have fewer than `min_people` people.
    max_expected_share : float
        Share of training rows that a reconstruction may be expected to get right before a person
        has to decide, even if no single row is certain.
    """

    min_people: int = 10
    allow_pure_leaves: bool = False
    allow_small_classes: bool = False
    max_expected_share: float = 0.05

    def __post_init__(self) -> None:
        if isinstance(self.min_people, bool) or not isinstance(self.min_people, int):
            raise AuditError(f"min_people must be a whole number, got {self.min_people!r}")
        if self.min_people < 1:
            raise AuditError("min_people must be at least 1")
        if not 0 <= self.max_expected_share <= 1:
            raise AuditError("max_expected_share must be between 0 and 1")

    def to_document(self) -> list[dict[str, Any]]:
        """Every threshold with its reason, JSON-ready."""
        return [
            {"name": name, "value": value, "reason": _REASONS[name]}
            for name, value in asdict(self).items()
        ]
