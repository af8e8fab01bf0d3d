"""Decision trees with the fewest training errors there can be at a given depth."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from glassleak._version import __version__
from glassleak.errors import BudgetExhaustedError, MissingExtraError
from glassleak.learners._least_leaky import Ties
from glassleak.learners._literals import Cuts, Literals, literals_of
from glassleak.learners._optimal_problem import points_of
from glassleak.learners._optimal_search import OutOfBudgetError
from glassleak.learners._profiles import Profiles
from glassleak.learners._support import (
    not_negative,
    one_of,
    support_rows,
    whole_number,
)
from glassleak.learners._tree_base import BaseTree
from glassleak.learners._tree_search import Leaf, Node, Split, TreeSearch
from glassleak.schema import Schema

# What STreeD accepts.
_DEEPEST = 20


@dataclass(frozen=True)
class TreeCertificate:
    """How good a tree is known to be.

    Attributes
    ----------
    status : "optimal" or "budget"
        ``"budget"``: time ended before there was a proof.
    errors : int
    objective : float
        Share of training errors plus `regularization` per split.
    """

    status: Literal["optimal", "budget"]
    errors: int
    objective: float


class OptimalTreeClassifier(BaseTree):
    """Tree with the smallest share of training errors plus a price per split, certified.

    The tree comes from STreeD (the ``optimal`` extra), which keeps the training table in the object
    it fits; this estimator takes the tree and keeps counts only.  With ``tie_break="least_leaky"``
    glassleak's own dynamic programme looks at all optimal trees (no extra needed; meant for small
    depths and some dozens of columns).

    Parameters
    ----------
    max_depth : int
    min_support : float or int
        Fewest training rows in a leaf: a share of the table (float) or a number (int).
    regularization : float
        Price of a split as a share of training errors.
    tie_break : "solver" or "least_leaky"
        Which of several optimal trees to return: the one the solver meets, or the one that leaves
        the most uncertainty about the training table (Dist_G, equation 11 of Ferry et al.).
    n_thresholds, thresholds
        As in `GreedyRuleListClassifier`.
    schema : Schema, optional
        The profiles that are possible, for counting what leaks.
    budget_seconds : float, optional

    Attributes
    ----------
    feature_, threshold_, left_, right_ : arrays
        One entry per node, node 0 the root; -1 (NaN) at leaves.  ``value <= threshold`` goes left.
    counts_ : (nodes, classes) int array
    certificate_ : TreeCertificate
    ties_ : Ties or None
        With ``"least_leaky"``: how many optimal trees there are and how much they leak.
    """

    def __init__(
        self,
        max_depth: int = 3,
        min_support: float | int = 0.01,
        *,
        regularization: float = 0.0,
        tie_break: Literal["solver", "least_leaky"] = "solver",
        n_thresholds: int = 9,
        thresholds: Cuts | None = None,
        schema: Schema | None = None,
        budget_seconds: float | None = 60,
    ) -> None:
        self.max_depth = max_depth
        self.min_support = min_support
        self.regularization = regularization
        self.tie_break = tie_break
        self.n_thresholds = n_thresholds
        self.thresholds = thresholds
        self.schema = schema
        self.budget_seconds = budget_seconds

    def fit(self, X: Any, y: Any) -> Self:
        """Find the tree.

        Raises
        ------
        MissingExtraError
            STreeD is needed and not installed.
        BudgetExhaustedError
            The time ended without any tree.
        """
        max_depth = whole_number(self.max_depth, "max_depth", 0, _DEEPEST)
        n_thresholds = whole_number(self.n_thresholds, "n_thresholds", 1)
        leaky = one_of(self.tie_break, "tie_break", ("solver", "least_leaky")) == "least_leaky"
        price = not_negative(self.regularization, "regularization")
        budget = not_negative(self.budget_seconds, "budget_seconds", none=math.inf)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.version_ = __version__
        least = support_rows(self.min_support, len(X))
        literals = literals_of(X, n_thresholds, self.thresholds, self._names(), negations=False)
        ties: Ties | None = None
        proved = True
        if not len(literals) or len(self.classes_) == 1 or not max_depth:
            root: Node = Leaf()
        elif leaky:
            root, ties = self._least_leaky(X, codes, literals, max_depth, least, price, budget)
        else:
            root, proved = _streed(literals.holds(X), codes, max_depth, least, price, budget)
        self._publish(X, codes, root, literals)
        if leaky and ties is None:
            ties = Ties(1.0, (1.0, 1.0), 1, complete=True)
        leaves = self.feature_ < 0
        errors = int((self.counts_.sum(axis=1) - self.counts_.max(axis=1))[leaves].sum())
        objective = errors / len(X) + price * int((~leaves).sum())
        proof = TreeCertificate("optimal" if proved else "budget", errors, objective)
        self._certificate = asdict(proof)
        self._ties = None if ties is None else asdict(ties)
        return self

    def _least_leaky(
        self, X: npt.NDArray[np.float64], codes: npt.NDArray[np.int64], literals: Literals,
        max_depth: int, least: int, price: float, budget: float,
    ) -> tuple[Node, Ties]:  # fmt: skip
        points = points_of(X, codes, literals, len(self.classes_))
        profiles = Profiles.of(self.schema, self._names(), literals, X)
        search = TreeSearch(points, least, price * len(X), time.monotonic() + budget)
        space = profiles.everything
        try:
            found = search.ties(search.everything, space, max_depth, profiles)
        except OutOfBudgetError:
            raise BudgetExhaustedError(
                f"{budget:g} seconds were not enough to look at all trees of depth {max_depth}; "
                'give more, or use tie_break="solver"'
            ) from None
        uninformed = len(X) * math.log2(profiles.count(space))
        scale = 1 / uninformed if uninformed else 0.0
        least_bits, most_bits = found.least * scale, found.most * scale
        return found.best, Ties(most_bits, (least_bits, most_bits), found.number, complete=True)

    def _publish(
        self, X: npt.NDArray[np.float64], codes: npt.NDArray[np.int64], root: Node,
        literals: Literals,
    ) -> None:  # fmt: skip
        """Flatten the tree and count who reaches which node; the table is not kept."""
        feature: list[int] = []
        threshold: list[float] = []
        children: list[list[int]] = []
        counts: list[npt.NDArray[np.int64]] = []
        stack: list[tuple[Node, npt.NDArray[np.bool_], int, int]] = [
            (root, np.ones(len(X), dtype=bool), -1, 0)
        ]
        while stack:
            node, here, parent, side = stack.pop()
            at = len(feature)
            if parent >= 0:
                children[parent][side] = at
            counts.append(np.bincount(codes[here], minlength=len(self.classes_)))
            children.append([-1, -1])
            if isinstance(node, Leaf):
                feature.append(-1)
                threshold.append(math.nan)
                continue
            column, cut = int(literals.column[node.literal]), float(literals.cut[node.literal])
            feature.append(column)
            threshold.append(cut)
            low = X[:, column] <= cut
            stack.append((node.high, here & ~low, at, 1))
            stack.append((node.low, here & low, at, 0))
        self.feature_ = np.array(feature, dtype=np.int32)
        self.threshold_ = np.array(threshold)
        self.left_ = np.array([c[0] for c in children], dtype=np.int32)
        self.right_ = np.array([c[1] for c in children], dtype=np.int32)
        self.counts_ = np.array(counts, dtype=np.int64)

    @property
    def certificate_(self) -> TreeCertificate:
        """What is proved about the tree."""
        check_is_fitted(self)
        return TreeCertificate(**self._certificate)

    @property
    def ties_(self) -> Ties | None:
        """The optimal trees there were to choose from; None unless they were asked for."""
        check_is_fitted(self)
        return None if self._ties is None else Ties(**self._ties)


def _streed(
    holds: npt.NDArray[np.bool_], codes: npt.NDArray[np.int64], max_depth: int, least: int,
    price: float, budget: float,
) -> tuple[Node, bool]:  # fmt: skip
    """The tree STreeD finds, and whether it proved it."""
    try:
        from pystreed import STreeDClassifier
    except ImportError:
        raise MissingExtraError(
            'optimal trees need STreeD: pip install "glassleak[optimal]" '
            '(tie_break="least_leaky" works without)'
        ) from None
    solver = STreeDClassifier(
        "cost-complex-accuracy" if price else "accuracy",
        max_depth=max_depth,
        min_leaf_node_size=least,
        time_limit=min(budget, 10**8),
        **({"cost_complexity": price} if price else {}),
    )
    if 2 * least > len(codes):
        return Leaf(), True
    solver.fit(holds.astype(np.int32), codes)
    if not hasattr(solver, "tree_"):
        raise BudgetExhaustedError(f"STreeD found no tree in {budget:g} seconds")
    return _converted(solver.tree_), bool(solver.fit_result.is_optimal())


def _converted(node: Any) -> Node:
    if not node.is_branching_node():
        return Leaf()
    return Split(int(node.feature), _converted(node.left_child), _converted(node.right_child))
