"""Rule lists with the fewest training errors there can be, with proof."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from sklearn.utils.validation import check_is_fitted

from glassleak.learners._base import BaseRuleList
from glassleak.learners._least_leaky import Ties, least_leaky
from glassleak.learners._literals import Cuts, literals_of
from glassleak.learners._optimal_frontier import Frontier, frontier_of
from glassleak.learners._optimal_problem import candidates_of, points_of
from glassleak.learners._optimal_search import Search, warm_up
from glassleak.learners._profiles import Profiles
from glassleak.learners._support import not_negative, one_of, support_rows, whole_number
from glassleak.schema import Schema

# Of the time given, the share kept for improving the list when proof is out of reach.
_FOR_IMPROVING = 0.25
# Longer lists are nothing to prove something about, and nothing to read.
_LONGEST = 200


@dataclass(frozen=True)
class Certificate:
    """How good a list is known to be.

    Attributes
    ----------
    status : "optimal", "tolerance" or "budget"
        ``"tolerance"``: errors were given up for less leakage, no more than allowed.
        ``"budget"``: time or memory ended first, and a better list may exist.
    objective, lower_bound : float
        Share of training errors plus `regularization` per rule, of this list and of the best there
        can be; equal when optimal.
    errors : int
        Training errors of this list.
    gap : float
        Objective minus lower bound.
    frontier : tuple of (int, int, int)
        For every number of rules: proved lower bound on the errors, errors of the best list found.
    n_candidates, n_points, states, nodes : int
        Rules and distinct rows there were, sets of rows remembered, sets looked at.
    """

    status: Literal["optimal", "tolerance", "budget"]
    objective: float
    lower_bound: float
    errors: int
    gap: float
    frontier: tuple[tuple[int, int, int], ...]
    n_candidates: int
    n_points: int
    states: int
    nodes: int


class OptimalRuleListClassifier(BaseRuleList):
    """Rule list with the smallest share of training errors plus a price per rule, certified.

    Branch and bound in the line of CORELS (Angelino et al. 2018), over sets of distinct rows
    instead of over rule lists.

    Parameters
    ----------
    max_length : int
        Most rules, the default rule ("otherwise") not counted.
    min_support : float or int
        Fewest training rows a rule captures: a share of the table (float) or a number (int).
    max_width : int
        Most conditions in one rule.
    regularization : float
        Price of a rule as a share of training errors (CORELS' lambda).  With 0 only errors count,
        and among lists with equally few a shortest one is returned.
    negations, support_of, protect_default, n_thresholds, thresholds
        As in `GreedyRuleListClassifier`; ``support_of="table"`` asks of a rule only that its
        conditions hold for at least `min_support` and at most one minus `min_support` of the whole
        table, and that it captures somebody: what CORELS asks.
    tie_break : "shortest" or "least_leaky"
        Which of several optimal lists to return.  ``"least_leaky"``: the one that leaves the most
        uncertainty about the training table (largest Dist_G, equation 16 of Ferry et al.).
    tolerance : float
        With ``"least_leaky"``: share of training errors that may be given up for less leakage.
    schema : Schema, optional
        The profiles that are possible, for counting what leaks.  By default every column is taken
        to be independent of the others, as in the paper; see `Notes`.
    budget_seconds : float, optional
        When to stop without proof.  Compiling the search, once per installation, is not counted.
    memory_mb : int
        Most memory for remembered sets of rows.
    progress : callable, optional
        ``progress(step, share_done)``, called now and then; raise from it to cancel.

    Attributes
    ----------
    certificate_ : Certificate
    ties_ : Ties or None
        With ``"least_leaky"``: how many optimal lists there are and how much they leak.

    Notes
    -----
    Nothing is random, but what a search finds before its budget ends depends on the machine.
    Without a schema a column of more than two values counts as many values as the cuts leave
    intervals.
    """

    def __init__(
        self,
        max_length: int = 5,
        min_support: float | int = 0.01,
        max_width: int = 1,
        *,
        regularization: float = 0.0,
        negations: bool = True,
        support_of: Literal["captured", "table"] = "captured",
        protect_default: bool = False,
        n_thresholds: int = 3,
        thresholds: Cuts | None = None,
        tie_break: Literal["shortest", "least_leaky"] = "shortest",
        tolerance: float = 0.0,
        schema: Schema | None = None,
        budget_seconds: float | None = 60,
        memory_mb: int = 1024,
        progress: Callable[[str, float], None] | None = None,
    ) -> None:
        self.max_length = max_length
        self.min_support = min_support
        self.max_width = max_width
        self.regularization = regularization
        self.negations = negations
        self.support_of = support_of
        self.protect_default = protect_default
        self.n_thresholds = n_thresholds
        self.thresholds = thresholds
        self.tie_break = tie_break
        self.tolerance = tolerance
        self.schema = schema
        self.budget_seconds = budget_seconds
        self.memory_mb = memory_mb
        self.progress = progress

    def fit(self, X: Any, y: Any) -> Self:
        """Find the list, or the best one the budget allows."""
        max_length = whole_number(self.max_length, "max_length", 0, _LONGEST)
        max_width = whole_number(self.max_width, "max_width", 1)
        n_thresholds = whole_number(self.n_thresholds, "n_thresholds", 1)
        memory_mb = whole_number(self.memory_mb, "memory_mb", 1)
        of_table = one_of(self.support_of, "support_of", ("captured", "table")) == "table"
        leaky = one_of(self.tie_break, "tie_break", ("shortest", "least_leaky")) == "least_leaky"
        price = not_negative(self.regularization, "regularization")
        tolerance = not_negative(self.tolerance, "tolerance")
        budget = not_negative(self.budget_seconds, "budget_seconds", none=math.inf)
        X, codes = self._checked(X, y)
        least = support_rows(self.min_support, len(X))
        warm_up()
        started = time.monotonic()
        literals = literals_of(X, n_thresholds, self.thresholds, self._names(), self.negations)
        points = points_of(X, codes, literals, len(self.classes_))
        most = len(X) - least if of_table else len(X) - 1
        candidates = candidates_of(points, literals, max_width, least, most)
        # Every rule captures somebody, and none captures anybody twice.
        max_length = min(max_length, len(candidates.groups), len(points.counts))
        search = Search(
            points,
            candidates,
            max_length,
            least=1 if of_table else least,
            rest=least if self.protect_default else 1,
            deadline=started + budget * (1 - _FOR_IMPROVING),
            memory_bytes=memory_mb * 1_000_000,
            progress=self.progress,
        )
        frontier = frontier_of(search, max_length, price * len(X), started + budget)
        rules = [candidates.members[candidates.groups[g][0]] for g in frontier.rules]
        ties: Ties | None = None
        if leaky:
            profiles = Profiles.of(self.schema, self._names(), literals, X)
            search.deadline = started + budget
            search.step = ("comparing optimal lists", 1.0)
            ties, rules = least_leaky(
                search, frontier, max_length, price * len(X), tolerance * len(X), profiles
            )
        self._publish(X, codes, [literals.intervals(members) for members in rules])
        self._certificate = asdict(self._certified(frontier, search, price))
        self._ties = None if ties is None else asdict(ties)
        return self

    def _certified(self, frontier: Frontier, search: Search, price: float) -> Certificate:
        n_rows = int(self.counts_.sum())
        errors = int(n_rows - self.counts_.max(axis=1).sum())
        objective = errors / n_rows + price * (len(self.conditions_) - 1)
        lower = frontier.lower_bound / n_rows
        status: Literal["optimal", "tolerance", "budget"] = "budget"
        if frontier.proved:
            given_up = objective - frontier.objective / n_rows
            status = "optimal" if given_up * n_rows < 1e-6 else "tolerance"
        return Certificate(
            status=status,
            objective=objective,
            lower_bound=lower,
            errors=errors,
            gap=max(0.0, objective - lower),
            frontier=frontier.bounds,
            n_candidates=len(search.candidates.members),
            n_points=len(search.points.counts),
            states=search.states,
            nodes=search.nodes,
        )

    @property
    def certificate_(self) -> Certificate:
        """What is proved about the list."""
        check_is_fitted(self)
        return Certificate(**self._certificate)

    @property
    def ties_(self) -> Ties | None:
        """The optimal lists there were to choose from; None unless they were asked for."""
        check_is_fitted(self)
        return None if self._ties is None else Ties(**self._ties)
