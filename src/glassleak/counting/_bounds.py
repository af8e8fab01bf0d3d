"""What can be said about a part of the problem without solving it."""

from __future__ import annotations

from glassleak.counting._domains import bits
from glassleak.counting._formula import Formula, State

# Pairs of boxes are looked at up to this many boxes.
_PAIRS = 16


def quick_bounds(formula: Formula, state: State, clauses: int, attributes: int) -> tuple[int, int]:
    """Least and largest number of profiles of `attributes` outside the boxes of `clauses`.

    The boxes' union holds at most the sum of their sizes less the overlaps along any tree of pairs
    (Hunter), at least the largest box, at least what sums of sizes and of overlaps imply (Dawson
    and Sankoff), and at least the union of boxes that share no attribute.
    """
    everything = formula.profiles(state, attributes)
    numbers = list(bits(clauses))
    sizes = [formula.inside_size(state, (number,), everything) for number in numbers]
    total, largest = sum(sizes), max(sizes)
    at_most = _outside_unrelated(formula, state, numbers, sizes, everything)
    if len(numbers) > _PAIRS:
        return max(0, everything - total), at_most
    overlaps = [
        [formula.inside_size(state, (a, b), everything) for b in numbers[:i]]
        for i, a in enumerate(numbers)
    ]
    both = sum(sum(row) for row in overlaps)
    most = total - _heaviest_tree(overlaps)
    # The union is at least 2/(k+1) total - 2/(k(k+1)) both, for every whole k.
    k = 1 + 2 * both // total if total else 1
    least = -(-(2 * k * total - 2 * both) // (k * (k + 1)))
    return max(0, everything - most), min(at_most, everything - max(largest, least))


def _outside_unrelated(
    formula: Formula, state: State, numbers: list[int], sizes: list[int], everything: int
) -> int:
    """Profiles outside some of the boxes only, no two of which share an attribute: a product."""
    taken, outside = 0, everything
    for _, number in sorted(zip(sizes, numbers, strict=True), reverse=True):
        if not state.open[number] & taken:
            taken |= state.open[number]
            # Exact: the attributes of this box have not been used, so they divide.
            outside -= formula.inside_size(state, (number,), outside)
    return outside


def _heaviest_tree(overlaps: list[list[int]]) -> int:
    """Weight of the heaviest spanning forest of the boxes' overlaps (Prim)."""
    n = len(overlaps)
    best = [0] * n
    outside = set(range(1, n))
    last, weight = 0, 0
    while outside:
        for other in outside:
            pair = overlaps[max(last, other)][min(last, other)]
            if pair > best[other]:
                best[other] = pair
        last = max(outside, key=best.__getitem__)
        weight += best[last]
        outside.remove(last)
    return weight
