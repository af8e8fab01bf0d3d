"""Accuracy against epsilon on one's own data: what does privacy cost here?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split


@dataclass(frozen=True)
class CurvePoint:
    """Test accuracy at one epsilon.

    Attributes
    ----------
    epsilon, accuracy : float
        Mean over random splits and noise.
    error : float
        Standard error of that mean.
    worst : float
        Of all runs: what an unlucky draw of the noise gives.
    runs : int
    """

    epsilon: float
    accuracy: float
    error: float
    worst: float
    runs: int


def privacy_curve(
    learner: Any,
    X: Any,
    y: Any,
    epsilons: Sequence[float],
    *,
    runs: int = 20,
    test_share: float = 0.3,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> list[CurvePoint]:
    """Mean test accuracy for each of `epsilons`.

    Every run looks at the data without paying for it.  The numbers are for the data's owner; if
    epsilon itself is chosen by them, that choice is not covered by the guarantee.
    """
    if runs < 2:
        raise ValueError(f"runs must be at least 2, got {runs}")
    tell = progress or (lambda _step, _share: None)
    points = []
    for i, epsilon in enumerate(epsilons):
        scores = []
        for r in range(runs):
            tell(f"epsilon {epsilon:g}, run {r + 1} of {runs}", (i + r / runs) / len(epsilons))
            train, test, labels, others = train_test_split(
                X, y, test_size=test_share, random_state=seed + r
            )
            fitted = clone(learner).set_params(epsilon=epsilon).fit(train, labels)
            scores.append(float(fitted.score(test, others)))
        spread = float(np.std(scores, ddof=1)) / runs**0.5
        points.append(CurvePoint(epsilon, float(np.mean(scores)), spread, min(scores), runs))
    return points
