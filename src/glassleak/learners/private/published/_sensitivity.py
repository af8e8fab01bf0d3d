"""Sensitivity of the Gini impurity (Ly et al., Section 4.1)."""

from __future__ import annotations

import math

# Section 3.3: whatever the number of people.
GLOBAL_SENSITIVITY = 0.5


def local_sensitivity(n: float) -> float:
    """``g(n)``: how far one more person can move the impurity of `n` people (Section 4.1).

    Removing one of `n` people moves it by up to ``g(n - 1)``, which is larger: for n = 3 it is
    0.444 and not 0.375.  The paper uses ``g(n)`` for both.
    """
    return 1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2


def smooth_sensitivity(n: int, beta: float, min_support: int) -> float:
    """Theorem 4.1: the largest ``exp(-beta k) g(max(min_support, n - k))`` over all ``k``.

    Parameters
    ----------
    n : int
        People no earlier rule captured.
    beta : float
    min_support : int
        Fewest people there may be (the paper's capital lambda).
    """
    floor = max(1, min_support)
    if n <= floor:
        return local_sensitivity(floor)

    def at(k: int) -> float:
        return math.exp(-beta * k) * local_sensitivity(max(floor, n - k))

    candidates = [0, n - floor]
    inside = (1 - beta) ** 2 - 4 * beta
    if beta > 0 and inside >= 0:
        turn = n - (1 - beta - math.sqrt(inside)) / (2 * beta)
        candidates += [math.floor(turn), math.ceil(turn)]
    return max(at(min(max(k, 0), n - floor)) for k in candidates)
