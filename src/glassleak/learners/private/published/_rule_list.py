"""Algorithms 1 to 3 of Ly et al. (2024), as printed."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from glassleak._version import __version__
from glassleak.learners._base import BaseRuleList
from glassleak.learners._support import one_of, whole_number
from glassleak.learners.private._candidates import candidates_of, public_literals
from glassleak.learners.private._grow import captured_counts
from glassleak.learners.private.published import _selection as selection
from glassleak.models import Counts, Noisy

MECHANISMS: dict[str, selection.Select] = {
    "smooth-laplace": selection.smooth_laplace,
    "smooth-cauchy": selection.smooth_cauchy,
    "global-laplace": selection.global_laplace,
    "global-gaussian": selection.global_gaussian,
    "exponential": selection.exponential,
    "noisy-counts": selection.noisy_counts,
}
_SMOOTH = ("smooth-laplace", "smooth-cauchy")
_GAPS = (
    "noise is drawn with floating-point numbers",
    "the minimum support and delta are computed from the private number of rows",
    "sensitivity under removal is g(n - 1), not g(n)",
    "3 K + 1 accesses are made against 3 K - 1 that are paid for",
    "the support test may fail with probability 1 - C, which delta does not cover",
)


class PublishedPrivateRuleListClassifier(BaseRuleList):
    """DP-GreedyRL (Ly et al., ICML 2024) as published, for comparison only: not certified.

    Parameters
    ----------
    epsilon : float
    mechanism : str
        How a rule is chosen: "smooth-laplace" (the paper's own), "smooth-cauchy",
        "global-laplace", "global-gaussian", "exponential" or "noisy-counts".
    max_length : int
        The paper's K, the default rule included.
    max_width : 1 or 2
    min_support : float
        The paper's lambda: share of people that must be left before a rule is added.
    confidence : float
        The paper's C, of the support test.
    delta : float, optional
        By default ``1 / n**2``, as in the paper.
    random_state : int, optional

    Attributes
    ----------
    privacy_ : dict
        The claim, and why it does not hold as printed.
    """

    noise_scale_: float
    privacy_: dict[str, Any]

    def __init__(
        self,
        epsilon: float = 1.0,
        mechanism: Literal[
            "smooth-laplace", "smooth-cauchy", "global-laplace", "global-gaussian",
            "exponential", "noisy-counts",
        ] = "smooth-laplace",
        max_length: int = 5,
        max_width: int = 2,
        *,
        min_support: float = 0.05,
        confidence: float = 0.99,
        delta: float | None = None,
        random_state: int | None = None,
    ) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.max_length = max_length
        self.max_width = max_width
        self.min_support = min_support
        self.confidence = confidence
        self.delta = delta
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the list."""
        length = whole_number(self.max_length, "max_length", 2)
        width = whole_number(self.max_width, "max_width", 1)
        choose = MECHANISMS[one_of(self.mechanism, "mechanism", tuple(MECHANISMS))]
        X, codes = self._checked(X, y)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported: the paper defines its mechanisms for "
                f"two classes. The type of the target is multiclass, with {len(self.classes_)}."
            )
        rng = np.random.default_rng(self.random_state)
        candidates = candidates_of(public_literals(self._names(), None, None, 1), width)
        delta = self.delta if self.delta is not None else 1 / max(2, len(X)) ** 2
        tested = self.mechanism in _SMOOTH
        node = float(self.epsilon) / (3 * length - 1 if tested else 2 * length - 1)
        least = int(self.min_support * len(X))
        budget = selection.Budget(node, delta / (length - 1), max(1, least))
        # Algorithm 3.
        threshold = math.ceil(-(math.log(2) + math.log(1 - self.confidence)) / node) + 1
        tables = [
            candidates.literals.holds(X[codes == c]).astype(np.float64)
            for c in range(len(self.classes_))
        ]
        while len(tables) < 2:
            tables.append(np.zeros((0, len(candidates.literals))))
        alive = [np.ones(len(t), dtype=bool) for t in tables]
        open_ones = np.ones(len(candidates), dtype=bool)
        rules: list[list[int]] = []
        counts: list[npt.NDArray[np.float64]] = []
        while len(rules) < length - 1:
            totals = np.array([left.sum() for left in alive], dtype=np.float64)
            if tested and totals.sum() + rng.laplace(scale=1 / node) < least + threshold:
                break
            which = np.flatnonzero(open_ones)
            left = [t[a] for t, a in zip(tables, alive, strict=True)]
            inside = captured_counts(left, candidates)[:, which].astype(np.float64)
            # Line 7: adding no rule is a candidate too, last in line.
            inside = np.column_stack([inside, np.zeros(2)])
            at = choose(inside, totals[:, None] - inside, budget, rng)
            if at == len(which):
                break
            chosen = candidates.members(int(which[at]))
            open_ones[which[at]] = False
            rules.append(chosen)
            counts.append(inside[:, at] + rng.laplace(scale=1 / node, size=2))
            for table, people in zip(tables, alive, strict=True):
                people &= ~table[:, chosen].all(axis=1)
        totals = np.array([left.sum() for left in alive], dtype=np.float64)
        counts.append(totals + rng.laplace(scale=1 / node, size=2))
        self.conditions_ = [*(candidates.literals.intervals(rule) for rule in rules), []]
        self.version_ = __version__
        self.counts_ = np.array(counts)[:, : len(self.classes_)]
        self.noise_scale_ = 1 / node
        self.predictions_ = self.counts_.argmax(axis=1).astype(np.int64)
        self.privacy_ = {
            "epsilon": float(self.epsilon),
            "delta": delta,
            "certified": False,
            "why not": list(_GAPS),
        }
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    def _published_counts(self) -> Counts:
        return Noisy(np.asarray(self.counts_, dtype=np.float64), self.noise_scale_, "Laplace")
