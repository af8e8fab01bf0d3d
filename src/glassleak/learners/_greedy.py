"""Rule lists built greedily: at every step the rule that separates the classes best."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from glassleak.learners._base import BaseRuleList
from glassleak.learners._greedy_search import BitTable, Limits, best_rule
from glassleak.learners._literals import Cuts, Interval, literals_of
from glassleak.learners._support import one_of, support_rows, whole_number


class GreedyRuleListClassifier(BaseRuleList):
    """Rule list built from the top, each rule chosen for its Gini impurity.

    At every step all conjunctions of up to `max_width` conditions are tried on the rows no earlier
    rule captured.

    Parameters
    ----------
    max_length : int
        Most rules, the default rule ("otherwise") not counted.
    min_support : float or int
        Fewest training rows a rule captures: a share of the table (float) or a number (int).
    max_width : int
        Most conditions in one rule.
    negations : bool
        Whether rules may ask for a column to be 0 (or at or below a cut).
    criterion : "gini" or "captured"
        ``"gini"``: the rule with the largest decrease of Gini impurity, counting the rows it
        captures and those it leaves (Ly et al., section 3.2); the list ends when no rule decreases
        it.  ``"captured"``: the rule whose captured rows are purest, whether or not the rest gains;
        this is what the program published with Ferry et al. computes.
    support_of : "captured" or "table"
        What `min_support` speaks of.  ``"captured"``: rows the rule captures in the list.
        ``"table"``: in addition, its conditions hold for at least `min_support` and for at most
        one minus `min_support` of the whole table, as when rules are mined beforehand.
    protect_default : bool
        Whether the default rule, too, must capture `min_support` rows.
    n_thresholds : int
        Most cuts in a column that has more than two values (at its quantiles, halfway between
        observed values).  Cuts found in the data tell something about it; see `thresholds`.
    thresholds : mapping, optional
        Cuts fixed beforehand for some columns, by name or number.

    Notes
    -----
    Nothing is random.  A condition and its negation have the same decrease of Gini impurity; the
    one whose captured rows are purer is taken, then the one that captures more, then the shorter
    rule, then the first in the order of the columns.  With ``"captured"``, equally pure rules are
    taken in that last order alone.
    """

    def __init__(
        self,
        max_length: int = 10,
        min_support: float | int = 0.01,
        max_width: int = 1,
        *,
        negations: bool = True,
        criterion: Literal["gini", "captured"] = "gini",
        support_of: Literal["captured", "table"] = "captured",
        protect_default: bool = False,
        n_thresholds: int = 9,
        thresholds: Cuts | None = None,
    ) -> None:
        self.max_length = max_length
        self.min_support = min_support
        self.max_width = max_width
        self.negations = negations
        self.criterion = criterion
        self.support_of = support_of
        self.protect_default = protect_default
        self.n_thresholds = n_thresholds
        self.thresholds = thresholds

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the list from a table and its classes."""
        max_length = whole_number(self.max_length, "max_length", 0)
        max_width = whole_number(self.max_width, "max_width", 1)
        n_thresholds = whole_number(self.n_thresholds, "n_thresholds", 1)
        criterion = one_of(self.criterion, "criterion", ("gini", "captured"))
        of_table = one_of(self.support_of, "support_of", ("captured", "table")) == "table"
        X, codes = self._checked(X, y)
        least = support_rows(self.min_support, len(X))
        limits = Limits(
            captured=least,
            rest=least if self.protect_default else 1,
            table_low=least if of_table else 0,
            table_high=len(X) - least,
        )
        literals = literals_of(X, n_thresholds, self.thresholds, self._names(), self.negations)
        table = BitTable.of(literals.holds(X), codes, len(self.classes_))
        compatible = literals.compatible()
        alive = table.everybody.copy()
        rules: list[list[Interval]] = []
        while len(rules) < max_length and _mixed(table, alive):
            members = best_rule(
                table, alive, compatible, max_width, limits, pure=criterion == "captured"
            )
            if members is None:
                break
            rules.append(literals.intervals(members.tolist()))
            alive &= ~table.captured(members, alive)
        return self._publish(X, codes, rules)


def _mixed(table: BitTable, alive: Any) -> bool:
    """Whether rows of more than one class are left: otherwise no rule could change anything."""
    left = [bool(alive[a:b].any()) for a, b in zip(table.starts, table.starts[1:], strict=False)]
    return int(np.sum(left)) > 1
