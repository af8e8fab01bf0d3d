"""A lower bound on epsilon from what a mechanism did on two neighbouring tables.

If a mechanism is ``epsilon``-private, every set of outputs is at most ``exp(epsilon)`` times as
likely on one table as on its neighbour.  So one set that is clearly more likely than that refutes
the claim.  The set is chosen on one half of the draws and judged on the other, with Clopper and
Pearson's exact intervals: whatever the mechanism, the bound is wrong with probability at most
``1 - confidence``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scipy.special import betaincinv

# Of Rényi divergences; 1 is Kullback and Leibler's.
_ORDERS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
# From hits on either table, trials and risk to what they prove.
Shown: TypeAlias = Callable[[int, int, int, float], float]


@dataclass(frozen=True)
class Bound:
    """What the draws prove.

    Attributes
    ----------
    epsilon : float
        With the stated confidence the mechanism's epsilon (or rho) is at least this; 0 if nothing
        is shown.
    confidence : float
    draws : int
        On each of the two tables.
    event : tuple
        Outputs that tell the tables apart best, a few of them.
    shares : (float, float)
        How often the event happened on the table where it is likelier, and on the other.
    """

    epsilon: float
    confidence: float
    draws: int
    event: tuple[Hashable, ...]
    shares: tuple[float, float]


def epsilon_bound(
    here: Sequence[Hashable], there: Sequence[Hashable], confidence: float = 0.99
) -> Bound:
    """The largest epsilon that `here` and `there`, draws on two neighbours, refute.

    Parameters
    ----------
    here, there : sequences of outputs
        Equally many independent draws on each table.
    confidence : float
    """
    return _bound(here, there, confidence, _log_ratio)


def rho_bound(
    here: Sequence[Hashable], there: Sequence[Hashable], confidence: float = 0.99
) -> Bound:
    """The same for rho: Rényi divergences of a rho-zCDP mechanism are at most ``rho * alpha``.

    They are at least the divergence between the probabilities of any one event on the two tables.
    """
    return _bound(here, there, confidence, _divergence)


def _bound(
    here: Sequence[Hashable], there: Sequence[Hashable], confidence: float, shown: Shown
) -> Bound:
    if len(here) != len(there) or len(here) < 4:
        raise ValueError("needs equally many draws on both tables, at least 4")
    middle = len(here) // 2
    # Two directions share the risk of being wrong.
    risk = (1 - confidence) / 2
    bounds = []
    for a, b in ((here, there), (there, here)):
        event = _most_telling(a[:middle], b[:middle], risk, shown)
        hits = [sum(x in event for x in draws[middle:]) for draws in (a, b)]
        trials = len(a) - middle
        bounds.append(
            Bound(
                shown(hits[0], hits[1], trials, risk), confidence, len(here),
                tuple(sorted(event, key=repr)[:5]), (hits[0] / trials, hits[1] / trials),
            )
        )  # fmt: skip
    return max(bounds, key=lambda bound: bound.epsilon)


def _most_telling(
    a: Sequence[Hashable], b: Sequence[Hashable], risk: float, shown: Shown
) -> frozenset[Hashable]:
    """Outputs by falling likelihood ratio, as many as prove most."""
    count_a, count_b = Counter(a), Counter(b)
    order = sorted(
        count_a, key=lambda x: (-(count_a[x] + 0.5) / (count_b[x] + 0.5), -count_a[x], repr(x))
    )
    best, size, hits = -math.inf, 0, [0, 0]
    for i, output in enumerate(order):
        hits[0] += count_a[output]
        hits[1] += count_b[output]
        proved = shown(hits[0], hits[1], len(a), risk)
        if proved > best:
            best, size = proved, i + 1
    return frozenset(order[:size])


def _log_ratio(hits: int, others: int, trials: int, risk: float) -> float:
    """``log(p / q)`` at least, with both intervals holding but for `risk`; never below 0."""
    low, high = _ends(hits, others, trials, risk)
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def _divergence(hits: int, others: int, trials: int, risk: float) -> float:
    """The largest ``D / alpha`` over a few orders, D the divergence of the event alone, at least.

    All follow from the same two intervals, so more orders cost no confidence.  0 unless the event
    is likelier on the first table.
    """
    low, high = _ends(hits, others, trials, risk)
    if low <= high:
        return 0.0
    return max(0.0, *(_renyi(low, high, alpha) / alpha for alpha in _ORDERS))


def _renyi(p: float, q: float, alpha: float) -> float:
    """Rényi divergence between an event of probability `p` and one of probability `q`."""
    terms = [(p, q), (1 - p, 1 - q)]
    if alpha == 1:
        return sum(a * math.log(a / b) for a, b in terms if a > 0)
    logs = [alpha * math.log(a) + (1 - alpha) * math.log(b) for a, b in terms if a > 0]
    largest = max(logs)
    return (largest + math.log(sum(math.exp(x - largest) for x in logs))) / (alpha - 1)


def _ends(hits: int, others: int, trials: int, risk: float) -> tuple[float, float]:
    """Clopper and Pearson's least p and largest q."""
    low = float(betaincinv(hits, trials - hits + 1, risk / 2)) if hits else 0.0
    high = float(betaincinv(others + 1, trials - others, 1 - risk / 2)) if others < trials else 1.0
    return low, high
