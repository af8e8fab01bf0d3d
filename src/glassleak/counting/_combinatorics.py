"""Numbers of multisets, exactly and as logarithms."""

from __future__ import annotations

import math

# Up to this many bits the number itself is written down; beyond, only its logarithm.
_MAX_BITS = 1 << 20
_MAX_TERMS = 1 << 20


def multisets(kinds: int, size: int) -> int:
    """Number of multisets of `size` things of `kinds` kinds: C(kinds + size - 1, size)."""
    if size == 0:
        return 1
    return math.comb(kinds + size - 1, size) if kinds > 0 else 0


def log2_multisets(kinds: int, size: int) -> float:
    """log2 of `multisets`, -inf where there is none; close to the last digit at any size."""
    if size == 0 or kinds == 1:
        return 0.0
    if kinds <= 0:
        return -math.inf
    if size * kinds.bit_length() <= _MAX_BITS:
        return math.log2(multisets(kinds, size))
    if size <= _MAX_TERMS:
        return math.fsum(math.log2(kinds + i) - math.log2(i + 1) for i in range(size))
    if kinds <= _MAX_TERMS:  # C(n, k) = C(n, n - k): fewer terms the other way round
        return math.fsum(math.log2(size + i) - math.log2(i) for i in range(1, kinds))
    return _log2_many(kinds, size)


def _log2_many(kinds: int, size: int) -> float:
    """Both numbers large: Stirling's series, with the leading terms put so that none cancel.

    ln C(k+n-1, n) = (k-1) ln(1 + n/(k-1)) + n ln(1 + (k-1)/n) - ln(2 pi n (k-1)/(n+k-1)) / 2
    + (1/(n+k-1) - 1/n - 1/(k-1)) / 12 + ..., whose next term is below 1e-18 here.
    """
    k, n = kinds - 1, size
    if k.bit_length() > 900:  # n/k is lost in a float: every factor is k
        return (
            n * math.log2(kinds)
            - (n * math.log2(n) - n / math.log(2))
            - math.log2(n) / 2
            - (math.log2(2 * math.pi) / 2)
        )
    nats = k * math.log1p(n / k) + n * math.log1p(k / n)
    nats -= (math.log(2 * math.pi) + math.log(n) + math.log(k) - math.log(n + k)) / 2
    nats += (1 / (n + k) - 1 / n - 1 / k) / 12
    return nats / math.log(2)
