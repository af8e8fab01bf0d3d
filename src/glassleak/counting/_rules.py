"""Profiles every rule of a list captures (Equation 12)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from glassleak.counting._counter import Count, Counter
from glassleak.counting._regions import RuleRegions

MAX_NODES = 2_000_000


def count_rules(
    regions: RuleRegions,
    *,
    counter: Counter | None = None,
    max_nodes: int = MAX_NODES,
    deadline: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> list[Count]:
    """Profiles captured by every rule; bounds where the budget ended.

    The numbers add up to that of all profiles: the last rule follows from the others, and bounds
    of some sharpen those of the rest.

    Parameters
    ----------
    counter : Counter, optional
        Over the regions' boxes; keeps what it has solved for later questions.
    max_nodes : int
        Parts of the problem that may be solved, over all rules.
    deadline : float
        ``time.monotonic()`` value at which bounds have to do.
    progress : callable, optional
        Called with the share of rules done.
    """
    boxes = regions.boxes
    counter = counter or Counter(regions.domains, boxes)
    everything = math.prod(domain.n_levels for domain in regions.domains)
    found: list[Count] = []
    last = counter.nodes + max_nodes
    for number, box in enumerate(boxes):
        ahead = len(boxes) - number
        if ahead == 1 and all(count.exact for count in found):
            rest = everything - sum(count.low for count in found)
            found.append(Count(rest, rest))
            break
        now = time.monotonic()
        # Rules that come later are harder: what the early ones leave is theirs.
        found.append(
            counter.count(
                box,
                (1 << number) - 1,
                max_nodes=max(0, (last - counter.nodes) // ahead),
                deadline=now + max(0.0, deadline - now) / ahead,
            )
        )
        if progress is not None:
            progress((number + 1) / len(boxes))
    low, high = sum(c.low for c in found), sum(c.high for c in found)
    return [c.within(everything - (high - c.high), everything - (low - c.low)) for c in found]
