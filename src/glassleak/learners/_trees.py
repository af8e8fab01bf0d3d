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
from glassleak.learners._tree_search import Leaf, Node, Split, TreeSearch, warm_up
from glassleak.schema import Schema

# What STreeD accepts.
_DEEPEST = 20
# Depths below this are solved one after the other before the deepest.
_QUICK = 5


@dataclass(frozen=True)
class TreeCertificate:
    """How good a tree is known to be.

    Attributes
    ----------
    status : "optimal" or "budget"
        ``"budget"``: time or memory ended before there was a proof.
    errors : int
    objective, lower_bound : float
        Share of training errors plus `regularization` per split, of this tree and of the best there
        can be; equal when optimal.
    """

    status: Literal["optimal", "budget"]
    errors: int
    objective: float
    lower_bound: float


class OptimalTreeClassifier(BaseTree):
    """Tree with the smallest share of training errors plus a price per split, certified.

    Parameters
    ----------
    max_depth : int
    min_support : float or int
        Fewest training rows in a leaf: a share of the table (float) or a number (int).
    regularization : float
        Price of a split as a share of training errors.
    tie_break : "first" or "least_leaky"
        Which of several optimal trees to return: the one met first, or the one that leaves the most
        uncertainty about the training table (Dist_G, equation 11 of Ferry et al.).
    solver : "own" or "streed"
        ``"own"``: branch and bound over sets of distinct rows.  ``"streed"``: STreeD (the
        ``optimal`` extra), which keeps the training table in the object it fits; the tree is taken
        out and the table dropped.  Ties are always compared with ``"own"``.
    n_thresholds, thresholds
        As in `GreedyRuleListClassifier`.
    schema : Schema, optional
        The profiles that are possible, for counting what leaks.
    budget_seconds : float, optional
        When to stop without proof.
    memory_mb : int
        Most memory for remembered sets of rows.

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
        tie_break: Literal["first", "least_leaky"] = "first",
        solver: Literal["own", "streed"] = "own",
        n_thresholds: int = 9,
        thresholds: Cuts | None = None,
        schema: Schema | None = None,
        budget_seconds: float | None = 60,
        memory_mb: int = 1024,
    ) -> None:
        self.max_depth = max_depth
        self.min_support = min_support
        self.regularization = regularization
        self.tie_break = tie_break
        self.solver = solver
        self.n_thresholds = n_thresholds
        self.thresholds = thresholds
        self.schema = schema
        self.budget_seconds = budget_seconds
        self.memory_mb = memory_mb

    def fit(self, X: Any, y: Any) -> Self:
        """Find the tree.

        Raises
        ------
        MissingExtraError
            STreeD is needed and not installed.
        BudgetExhaustedError
            The time ended before all optimal trees were compared, or before STreeD had any tree.
        """
        max_depth = whole_number(self.max_depth, "max_depth", 0, _DEEPEST)
        n_thresholds = whole_number(self.n_thresholds, "n_thresholds", 1)
        leaky = one_of(self.tie_break, "tie_break", ("first", "least_leaky")) == "least_leaky"
        own = one_of(self.solver, "solver", ("own", "streed")) == "own"
        memory = whole_number(self.memory_mb, "memory_mb", 1) * 1_000_000
        price = not_negative(self.regularization, "regularization")
        budget = not_negative(self.budget_seconds, "budget_seconds", none=math.inf)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.version_ = __version__
        least = support_rows(self.min_support, len(X))
        literals = literals_of(X, n_thresholds, self.thresholds, self._names(), negations=False)
        ties: Ties | None = None
        lower = 0.0
        proved = True
        if not len(literals) or len(self.classes_) == 1:
            root: Node = Leaf()
            ties = Ties(1.0, (1.0, 1.0), 1, complete=True) if leaky else None
        elif leaky or own:
            warm_up()
            points = points_of(X, codes, literals, len(self.classes_))
            end = time.monotonic() + budget
            search = TreeSearch(points, max_depth, least, price * len(X), end, memory)
            if leaky:
                profiles = Profiles.of(self.schema, self._names(), literals, X)
                root, ties = _least_leaky(search, profiles)
            else:
                root, lower, proved = _deepened(search)
        else:
            root, proved = _streed(literals.holds(X), codes, max_depth, least, price, budget)
        self._publish(X, codes, root, literals)
        leaves = self.feature_ < 0
        errors = int((self.counts_.sum(axis=1) - self.counts_.max(axis=1))[leaves].sum())
        objective = errors / len(X) + price * int((~leaves).sum())
        proof = TreeCertificate(
            status="optimal" if proved else "budget",
            errors=errors,
            objective=objective,
            lower_bound=objective if proved else lower / len(X),
        )
        self._certificate = asdict(proof)
        self._ties = None if ties is None else asdict(ties)
        return self

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


def _least_leaky(search: TreeSearch, profiles: Profiles) -> tuple[Node, Ties]:
    space = profiles.everything
    try:
        found = search.ties(search.everything, space, search.max_depth, profiles)
    except OutOfBudgetError:
        raise BudgetExhaustedError(
            f"the budget ended before all optimal trees of depth {search.max_depth} were "
            'compared; give more, or use tie_break="first"'
        ) from None
    uninformed = search.points.n_rows * math.log2(profiles.count(space))
    scale = 1 / uninformed if uninformed else 0.0
    worst, best = found.least * scale, found.most * scale
    return found.best, Ties(best, (worst, best), found.number, complete=True)


def _deepened(search: TreeSearch) -> tuple[Node, float, bool]:
    """Small depths first, so that there is a tree when time ends; its bound, whether proved."""
    everything = search.everything
    depth = 0
    proved = True
    for depth in (*range(min(_QUICK, search.max_depth)), search.max_depth):
        try:
            search.cost(everything, depth)
        except OutOfBudgetError:
            proved = False
            break
    lower, high = search.known(everything, search.max_depth)
    return search.tree(everything, depth), lower, proved or lower == high


def _streed(
    holds: npt.NDArray[np.bool_], codes: npt.NDArray[np.int64], max_depth: int, least: int,
    price: float, budget: float,
) -> tuple[Node, bool]:  # fmt: skip
    """The tree STreeD finds, and whether it proved it."""
    try:
        from pystreed import STreeDClassifier
    except ImportError:
        raise MissingExtraError(
            'this solver needs STreeD: pip install "glassleak[optimal]" '
            '(solver="own" works without)'
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
