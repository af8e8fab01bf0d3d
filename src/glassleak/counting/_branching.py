"""Which question to ask next: what an attribute is, or whether a profile lies in a box."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TypeAlias

from glassleak.counting._domains import bits
from glassleak.counting._formula import Formula, State
from glassleak.counting._order import elimination_ranks

# Sign, clauses, restrictions: the parts' numbers are added or subtracted.
Branch: TypeAlias = tuple[int, int, Sequence[tuple[int, int]]]

# Boxes narrower than this are better taken apart attribute by attribute.
_WIDE = 5.0
_CANDIDATES = 6


class Branching:
    """Chooses the next question for a part of the problem.

    Either an attribute is decided: its levels fall into groups that no clause of the part tells
    apart, and each group is one smaller problem.  Or one box B is decided by subtraction,
    ``outside all = outside all others - in B and outside all others``; inside a wide box little
    is left to decide, which is how long rules are counted.
    """

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.ranks = elimination_ranks(formula)
        self._groups: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        self._apart: dict[tuple[int, int], int] = {}

    def branches(self, state: State, clauses: int, attributes: int) -> list[Branch]:
        """The smaller problems, of which the numbers of profiles add up to that of the part."""
        if self.ranks is not None:
            return self.levels(state, clauses, attributes)
        width = sum(state.open[c].bit_count() for c in bits(clauses)) / clauses.bit_count()
        if width < _WIDE:
            return self.levels(state, clauses, attributes)
        box, decided = self._best_box(state, clauses)
        chosen, groups = self._best_attribute(state, clauses, attributes)
        if _growth([1, 1 + decided]) < _growth([satisfied for _, satisfied in groups]):
            return self._by_box(state, clauses, box)
        return [(1, clauses, ((chosen, group),)) for group, _ in groups]

    def levels(self, state: State, clauses: int, attributes: int) -> list[Branch]:
        """One smaller problem for every group of levels of the best attribute."""
        chosen, groups = self._best_attribute(state, clauses, attributes)
        return [(1, clauses, ((chosen, group),)) for group, _ in groups]

    def _best_attribute(
        self, state: State, clauses: int, attributes: int
    ) -> tuple[int, list[tuple[int, int]]]:
        formula = self.formula
        chosen, best = -1, -1
        for attribute in bits(attributes):
            score = (formula.clauses_of[attribute] & clauses).bit_count()
            if self.ranks is not None:
                score += self.ranks[attribute] * formula.n_clauses
            if score > best:
                chosen, best = attribute, score
        return chosen, self._grouped(state, chosen, formula.clauses_of[chosen] & clauses)

    def _grouped(self, state: State, attribute: int, own: int) -> list[tuple[int, int]]:
        """Levels that all clauses of `own` treat alike, and how many clauses each satisfies."""
        levels = state.levels[attribute]
        key = (attribute, levels, own)
        known = self._groups.get(key)
        if known is not None:
            return known
        within = [self.formula.inside[clause][attribute] & levels for clause in bits(own)]
        groups = [levels]
        for mask in set(within):
            groups = [part for g in groups for part in (g & mask, g & ~mask) if part]
        known = [(group, sum(not group & mask for mask in within)) for group in groups]
        self._groups[key] = known
        return known

    def _best_box(self, state: State, clauses: int) -> tuple[int, int]:
        """Of the widest boxes, the one that lies apart from most others, and from how many."""
        widest = heapq.nlargest(
            _CANDIDATES, bits(clauses), key=lambda clause: state.open[clause].bit_count()
        )
        found = [(self._decided(state, clauses, clause), clause) for clause in widest]
        decided, clause = max(found)
        return clause, decided

    def _decided(self, state: State, clauses: int, clause: int) -> int:
        apart = 0
        for attribute in bits(state.open[clause]):
            key = (attribute, self.formula.inside[clause][attribute] & state.levels[attribute])
            if key not in self._apart:
                inside = self.formula.inside
                self._apart[key] = sum(
                    1 << other
                    for other in bits(self.formula.clauses_of[attribute])
                    if not inside[other][attribute] & key[1]
                )
            apart |= self._apart[key]
        return (apart & clauses).bit_count()

    def _by_box(self, state: State, clauses: int, box: int) -> list[Branch]:
        others = clauses & ~(1 << box)
        own = self.formula.inside[box]
        into = tuple((a, own[a]) for a in bits(state.open[box]))
        return [(1, others, ()), (-1, others, into)]


def _growth(decided: Sequence[int]) -> float:
    """The factor by which work grows per clause when branches decide so many clauses each.

    The root x > 1 of ``sum x**-d = 1``, as in the analysis of branching algorithms.
    """
    steps = [max(0.5, float(d)) for d in decided]
    low, high = 1.0, 4.0 ** len(steps)
    while high - low > 1e-3:
        middle = (low + high) / 2
        if sum(middle**-d for d in steps) > 1:
            low = middle
        else:
            high = middle
    return high
