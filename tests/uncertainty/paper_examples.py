"""The worked examples of the paper on uncertainty."""

from __future__ import annotations

import numpy as np
import pandas as pd

from glassleak.models import Condition, Exact, Rule, RuleList, Tree
from glassleak.schema import Binary, Ordinal, Schema

# Table I and Figure 1.
TABLE_I = pd.DataFrame([[12, 0, 3], [14, 1, 2], [11, 1, 2], [14, 0, 1]], columns=["a1", "a2", "a3"])
LABELS_I = [0, 0, 1, 1]
SCHEMA_I = Schema([Ordinal("a1", 10, 15), Binary("a2"), Ordinal("a3", 1, 3)])


def figure_1() -> Tree:
    return Tree(
        ("a1", "a2", "a3"), (0, 1), [2, -1, 0, -1, -1], [1.5, np.nan, 11.5, np.nan, np.nan],
        [1, -1, 3, -1, -1], [2, -1, 4, -1, -1],
        Exact(np.array([[2, 2], [0, 1], [2, 1], [0, 1], [2, 0]])),
    )  # fmt: skip


# Table III and Rule List 1.
TABLE_III = pd.DataFrame(
    [[1, 1, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0]], columns=["a1", "a2", "a3"]
)
LABELS_III = [1, 1, 0, 0, 1]
SCHEMA_III = Schema([Binary("a1"), Binary("a2"), Binary("a3")])


def rule_list_1() -> RuleList:
    rules = (
        Rule((Condition(0, low=0.5), Condition(1, low=0.5)), 1),
        Rule((Condition(2, low=0.5),), 0),
        Rule((), 1),
    )
    return RuleList(("a1", "a2", "a3"), (0, 1), rules, Exact(np.array([[0, 2], [2, 0], [0, 1]])))


# Tables V to VII: one row, of which one attribute is known.
SCHEMA_V = Schema([Binary("a1"), Ordinal("a2", 1, 3)])


def known_by_rule(column: int, low: float, high: float) -> RuleList:
    rules = (Rule((Condition(column, low, high),), 1), Rule((), 1))
    return RuleList(("a1", "a2"), (0, 1), rules, Exact(np.array([[0, 1], [0, 0]])))
