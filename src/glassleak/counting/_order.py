"""In which order to decide attributes, when the way they are linked is simple enough.

Deciding attributes from the last to the first of a good elimination order takes a chain or a grid
apart quickly; for tangled problems the attribute in most clauses is better.
"""

from __future__ import annotations

import heapq
import math

from glassleak.counting._domains import bits
from glassleak.counting._formula import Formula

# Combinations of levels (as log2) that have to be looked at together, at most.
_SIMPLE = 14.0
# So much deeper a branch may get before another neighbour is the lesser evil.
_BALANCE = 8


def elimination_ranks(formula: Formula) -> list[int] | None:
    """For every attribute its place in the order of elimination (fewest neighbours first).

    ``None`` when more combinations than a small table would have to be looked at together.
    """
    near: dict[int, int] = {}
    for clause in range(formula.n_clauses):
        own = formula.attributes[clause]
        for a in bits(own):
            near[a] = near.get(a, 0) | own
    weight = [math.log2(max(2, len(domain.sizes))) for domain in formula.domains]

    def cost(attribute: int) -> float:
        neighbours = near[attribute].bit_count()
        # Every attribute weighs at least 1: beyond the limit the number alone will do.
        return neighbours if neighbours > _SIMPLE else sum(weight[a] for a in bits(near[attribute]))

    # A box wider than the limit links all its attributes: no need to look further.
    if any(sum(weight[a] for a in bits(own)) > _SIMPLE for own in formula.attributes):
        return None
    ranks = [0] * len(formula.domains)
    height = dict.fromkeys(near, 0)
    wanted = {a: cost(a) for a in near}
    queue = [(value, a) for a, value in wanted.items()]
    heapq.heapify(queue)
    place = 0
    while queue:
        value, attribute = heapq.heappop(queue)
        if wanted.get(attribute) != value:
            continue
        if cost(attribute) > _SIMPLE:
            return None
        place += 1
        ranks[attribute] = place
        del wanted[attribute]
        own = near.pop(attribute) & ~(1 << attribute)
        for a in bits(own):
            near[a] = (near[a] | own) & ~(1 << attribute)
            height[a] = max(height[a], height[attribute] + 1)
            # Taking a chain apart in the middle, not from its end, keeps the parts small.
            wanted[a] = cost(a) + height[a] / _BALANCE
            heapq.heappush(queue, (wanted[a], a))
    return ranks
