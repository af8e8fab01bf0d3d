"""The probability that all equations of one tree hold, which sharpens the product's bound."""

from __future__ import annotations

import math
import time

import numpy as np

from glassleak.uncertainty.joint._piece import FloatArray
from glassleak.uncertainty.joint._product import Product, Tilt

_EPS = float(np.finfo(float).eps)
_MAX_WORK = 2e7
_TREES_TRIED = 2


def sharpened(product: Product, tilt: Tilt, *, deadline: float = float("inf")) -> float:
    """log2 of the bound times the probability that the most telling tree's equations hold."""
    piece = product.piece
    if not len(piece.target):
        return tilt.bits
    variance = np.asarray(product.rows @ tilt.variance)
    # A sum of many small counts is nearly normal; good enough to choose a tree by.
    promise = 0.5 * np.log2(1.0 + 2 * math.pi * variance)
    n_parts = int(piece.parts.max()) + 1
    by_part = np.bincount(piece.parts, weights=promise, minlength=n_parts)
    s = np.asarray(product.columns @ tilt.y)
    best = tilt.bits
    for part in np.argsort(-by_part, kind="stable")[:_TREES_TRIED].tolist():
        gain = 0.0
        for e in np.flatnonzero(piece.parts == part).tolist():
            if time.monotonic() > deadline:
                break
            gain += _log2_probability(product, e, s)
        best = min(best, tilt.bits + gain)
    return best


def _log2_probability(product: Product, e: int, s: FloatArray) -> float:
    """log2 of P(equation `e` holds), rounded upwards; 0 where it would take too long."""
    piece = product.piece
    inside = piece.matrix.indices[piece.matrix.indptr[e] : piece.matrix.indptr[e + 1]]
    length = int(piece.target[e] - piece.lower[inside].sum()) + 1
    spans = np.minimum(product.span[inside] + 1, length)
    if float(spans.sum()) * length > _MAX_WORK:
        return 0.0
    total = np.ones(1)
    for j in inside.tolist():
        total = np.convolve(total, product.shares(j, float(s[j]), length))[:length]
    if len(total) < length or not total[-1] > 0:
        return 0.0
    # All terms are positive, so relative errors only add up.
    error = _EPS * 8 * (len(inside) + float(spans.sum()))
    return min(0.0, math.log2(total[length - 1]) + error * 2)
