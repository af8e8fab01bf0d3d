"""Groups of rows that may have the same values."""

from __future__ import annotations

import numpy as np
import pytest

from glassleak.reconstruction._fill import _patterns


@pytest.mark.parametrize("levels", [1, 3, 8, 9, 40])
def test_equal_lines_come_together_and_in_order(levels: int) -> None:
    rng = np.random.default_rng(levels)
    possible = (rng.random((30, levels)) < 0.5)[rng.integers(0, 30, 100)]
    distinct, member = np.unique(possible, axis=0, return_inverse=True)
    found = list(_patterns(possible))
    assert np.array_equal([pattern for pattern, _ in found], distinct)
    for g, (_, alike) in enumerate(found):
        assert alike.tolist() == np.flatnonzero(member.reshape(-1) == g).tolist()
