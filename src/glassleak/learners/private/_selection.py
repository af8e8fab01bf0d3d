"""Choose the best of several candidates without saying too much about anybody.

Permute-and-flip (McKenna and Sheldon, 2020): look at the candidates in random order and accept
each with a probability that falls with its distance from the best.  Never worse than the
exponential mechanism, and its draws need no sum over candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glassleak.learners.private._exact import Randomness, bernoulli_exp


def permute_and_flip(
    costs: Sequence[int] | Sequence[Fraction],
    epsilon: Fraction,
    source: Randomness,
    *,
    monotone: bool,
) -> int:
    """The position of a candidate of nearly lowest cost, ``epsilon``-differentially private.

    Parameters
    ----------
    costs : sequence of int or Fraction
        Each changes by at most 1 when one person is added or removed.
    epsilon : Fraction
    source : Randomness
    monotone : bool
        Whether adding a person never lowers any cost (or never raises any).  Then all costs move
        the same way, their distances to the best move by at most 1 instead of 2, and the same
        ``epsilon`` allows twice the slope.

    Notes
    -----
    Proof sketch.  With independent exponential noise ``Z`` of rate ``r`` per unit of cost,
    permute-and-flip returns ``argmin(cost - Z)`` (Ding et al., 2021, "The permute-and-flip
    mechanism is identical to report-noisy-max with exponential noise").  Fix the noise of all
    candidates but ``i``: ``i`` wins when ``Z_i`` exceeds a threshold ``t = cost_i - min_j(cost_j -
    Z_j)``, with probability ``min(1, exp(-r t))``.  Between neighbours ``t`` moves by at most 1 if
    costs are monotone with changes in ``[0, 1]``, and by at most 2 otherwise, so the ratio of
    probabilities is at most ``exp(r)`` or ``exp(2 r)``: ``r = epsilon`` or ``epsilon / 2``.
    """
    if not costs:
        raise ValueError("no candidates to choose from")
    rate = epsilon if monotone else epsilon / 2
    best = min(costs)
    order = list(range(len(costs)))
    for i in range(len(order)):
        # One step of Fisher and Yates at a time: most draws end long before the last candidate.
        j = i + source.randrange(len(order) - i)
        order[i], order[j] = order[j], order[i]
        if bernoulli_exp(rate * (costs[order[i]] - best), source):
            return order[i]
    raise AssertionError("the best candidate is always accepted")


def exponential_choice(
    costs: Sequence[int] | Sequence[Fraction], slope: Fraction, source: Randomness
) -> int:
    """A position with probability proportional to ``exp(-slope * cost)``, exactly.

    Candidates are drawn evenly and accepted by their distance from the best.
    """
    if not costs:
        raise ValueError("no candidates to choose from")
    best = min(costs)
    while True:
        i = source.randrange(len(costs))
        if bernoulli_exp(slope * (costs[i] - best), source):
            return i
