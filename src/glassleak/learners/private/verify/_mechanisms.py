"""The building blocks alone, on inputs where they leak all they may.

A whole fit hides much of what its parts give away.  Here the parts are drawn directly, fast enough
for bounds close to the claim.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from functools import partial

from glassleak.learners.private._exact import Randomness, discrete_laplace
from glassleak.learners.private._selection import permute_and_flip
from glassleak.learners.private.verify._cases import Case


def mechanism_cases(epsilon: float) -> list[Case]:
    """Discrete Laplace noise and both forms of permute-and-flip, each claiming `epsilon`."""
    exact = Fraction(repr(float(epsilon)))
    noisy = partial(_noisy, exact)
    # With monotone costs one rises by 1 and the other does not; otherwise the other may fall by 1.
    rising, either = (partial(_choice, exact, monotone) for monotone in (True, False))
    return [
        Case("discrete Laplace noise", epsilon, partial(noisy, 0), partial(noisy, 1)),
        Case(
            "permute-and-flip, monotone", epsilon, partial(rising, (0, 0)), partial(rising, (1, 0))
        ),
        Case("permute-and-flip", epsilon, partial(either, (1, 0)), partial(either, (2, -1))),
    ]


def _noisy(epsilon: Fraction, count: int, source: Randomness) -> Hashable:
    return count + discrete_laplace(1 / epsilon, source)


def _choice(
    epsilon: Fraction, monotone: bool, costs: tuple[int, int], source: Randomness
) -> Hashable:
    return permute_and_flip(costs, epsilon, source, monotone=monotone)
