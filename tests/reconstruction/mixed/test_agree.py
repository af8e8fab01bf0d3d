"""Rows that two searches agree on."""

from __future__ import annotations

import numpy as np

from glassleak.reconstruction.mixed._agree import agreed
from glassleak.reconstruction.mixed._axes import Axis


def axes(n_codes: int, n_levels: int) -> list[Axis]:
    """Codes of five levels, and one number of many."""
    codes = np.arange(5.0)
    numbers = np.arange(float(n_levels))
    return [
        *[
            Axis(np.array([b]), codes[:, None], codes, codes, True, False, 5)
            for b in range(n_codes)
        ],
        Axis(np.array([n_codes]), numbers[:, None], numbers, numbers, True, True, n_levels),
    ]


def test_order_does_not_matter_and_classes_do():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 5, (12, 10)).astype(np.int32)
    labels = np.repeat([0, 1], 6).astype(np.int32)
    within = np.concatenate([rng.permutation(6), 6 + rng.permutation(6)])
    assert agreed(axes(9, 100), rows, rows[within], labels).all()
    assert not agreed(axes(9, 100), rows, np.roll(rows, 6, axis=0), labels).any()


def test_small_differences_in_numbers_are_forgiven():
    rows = np.zeros((1, 10), dtype=np.int32)
    near, far = rows.copy(), rows.copy()
    near[0, 9] = 5
    far[0, :3] = 1
    labels = np.zeros(1, dtype=np.int32)
    assert agreed(axes(9, 100), rows, near, labels).all()
    assert not agreed(axes(9, 100), rows, far, labels).any()
