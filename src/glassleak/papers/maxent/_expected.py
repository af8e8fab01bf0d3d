"""What the paper prints.

Figures 3, 4, 6, 8 and 9 are pictures without numbers; of those only what the text says can be
compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from glassleak.papers.maxent._setting import Measure

# Section 5.
PEOPLE, QUASI_IDENTIFIERS, VALUES = 30_162, 4_480, 16


@dataclass(frozen=True)
class Constraints:
    """Numbers of constraints in Section 5, and memory in its last part."""

    rate: int
    label: int
    internal: int
    memory_gb: float


CONSTRAINTS: dict[Measure, Constraints] = {
    "gini": Constraints(518, 7_770, 1_097, 1.2),
    "entropy": Constraints(2_983, 44_745, 3_307, 2.5),
}

# Figure 7: individual divergence with implicit information, and without; information gain.
TOP_TEN: tuple[tuple[float, float], ...] = (
    (0.971, 2.463), (1.156, 2.527), (0.942, 2.247), (0.399, 1.703), (1.170, 2.432),
    (1.187, 2.435), (1.419, 2.616), (1.253, 2.448), (1.441, 2.632), (1.744, 2.888),
)  # fmt: skip
