"""The share of all tables in which one split of an attribute never beats the splits that were made.

Take the rows leaf by leaf, as the paper does; each attribute of each row is any of the levels its
leaf allows, independently of everything else.  So what the learner's choice says about one
attribute concerns this attribute alone, and for one split of it only *how many* rows of each class
go left in each leaf matters.  These numbers are binomial in the leaves, add up towards the root,
and every node forbids some of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.models import Exact, Tree
from glassleak.uncertainty._facts_gate import LearnerFacts, Measure
from glassleak.uncertainty._facts_questions import Questions

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
# Multiplications for the joint numbers of one node; nodes that would need more forbid nothing.
_MAX_WORK = 3e7
# Scores this close are ties, whatever the library's rounding made of them.
_TIE = {"gini": 1e-12, "entropy": 1e-9}


@dataclass(frozen=True)
class Share:
    """A share of all tables.

    Attributes
    ----------
    low, high : float
    exact : bool
        Whether all facts were used and the share is known up to rounding.
    """

    low: float
    high: float
    exact: bool


def score(low: FloatArray, high: FloatArray, measure: Measure) -> FloatArray:
    """How good splits are (larger is better); the last axis is the class."""
    from scipy.special import xlogy

    left, right = low.sum(axis=-1), high.sum(axis=-1)
    if measure == "gini":
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.where(left > 0, (low**2).sum(axis=-1) / left, 0.0)
            two = np.where(right > 0, (high**2).sum(axis=-1) / right, 0.0)
        return np.asarray(one + two)
    inside = xlogy(low, low).sum(axis=-1) + xlogy(high, high).sum(axis=-1)
    return np.asarray(inside - xlogy(left, left) - xlogy(right, right))


class Judge:
    """Which numbers of rows per class could have gone left at each node."""

    def __init__(self, tree: Tree, facts: LearnerFacts) -> None:
        assert isinstance(tree.counts, Exact)
        self.tree, self.facts, self.counts = tree, facts, tree.counts.values
        self.depth = np.zeros(tree.n_nodes, dtype=np.int64)
        self.order = [0]
        for node in self.order:
            if tree.feature[node] >= 0:
                for child in (int(tree.left[node]), int(tree.right[node])):
                    self.depth[child] = self.depth[node] + 1
                    self.order.append(child)

    def says_something(self, node: int) -> bool:
        """Whether the node was split, or could not be."""
        if self.tree.feature[node] >= 0:
            return True
        facts, rows = self.facts, int(self.counts[node].sum())
        shallow = facts.max_depth is None or self.depth[node] < facts.max_depth
        large = rows >= max(facts.min_split, 2 * facts.min_leaf)
        impure = int((self.counts[node] > 0).sum()) > 1
        return facts.leaves and shallow and large and impure

    def possible(self, node: int, low: IntArray) -> BoolArray:
        """For numbers of rows going left (last axis: class): could the learner have seen them?"""
        if not self.says_something(node):
            return np.ones(low.shape[:-1], dtype=bool)
        facts, own = self.facts, self.counts[node]
        left = low.sum(axis=-1)
        refused = (left < facts.min_leaf) | (int(own.sum()) - left < facts.min_leaf)
        if self.tree.feature[node] < 0:
            return np.asarray(refused)
        made = [
            self.counts[int(c[node])].astype(np.float64) for c in (self.tree.left, self.tree.right)
        ]
        best = float(score(made[0], made[1], facts.measure))
        tie = _TIE[facts.measure] * (1.0 + abs(best))
        found = score(low.astype(np.float64), (own - low).astype(np.float64), facts.measure)
        return np.asarray(refused | (found <= best + tie))


def share_of(judge: Judge, questions: Questions, q: int) -> Share:
    """The share of tables in which split `q` of the attribute contradicts no node."""
    tree, counts = judge.tree, judge.counts
    inside: dict[int, FloatArray | float] = {}
    every = True
    operations = 1
    for node in reversed(judge.order):
        own = counts[node]
        if tree.feature[node] < 0:
            inside[node] = _leaf(questions, q, node, own)
        else:
            one, two = (inside.pop(int(c[node])) for c in (tree.left, tree.right))
            inside[node] = _together(one, two)
        here = inside[node]
        if not judge.says_something(node):
            continue
        if isinstance(here, float):
            every = False
            continue
        low = np.moveaxis(np.asarray(np.indices(here.shape)), 0, -1)
        inside[node] = np.where(judge.possible(node, low), here, 0.0)
        operations += here.size
    root = inside[0]
    total = min(1.0, float(root) if isinstance(root, float) else float(root.sum()))
    # Sums of positive numbers: relative errors of each step add up.
    error = min(0.5, 1e-15 * (operations + 100.0 * tree.n_nodes))
    high = min(1.0, total * (1 + error) + 1e-290)
    return Share(total * (1 - error) if every else 0.0, high, every)


def _leaf(questions: Questions, q: int, node: int, own: IntArray) -> FloatArray | float:
    """Distribution of the rows per class that go left in a leaf."""
    # Imported here: importing glassleak should not take as long as importing statistics.
    from scipy.stats import binom

    if math.prod(int(n) + 1 for n in own) > _MAX_WORK:
        return 1.0
    allowed = questions.allowed[node]
    levels = int(allowed.sum())
    part = int((allowed & questions.low[q]).sum()) / levels if levels else 0.0
    found = np.ones(1)
    for n in own.tolist():
        found = np.multiply.outer(found, binom.pmf(np.arange(n + 1), n, part))
    return np.asarray(found[0])


def _together(one: FloatArray | float, two: FloatArray | float) -> FloatArray | float:
    """Distribution of the sum; only its total where that would take too long."""
    from scipy.signal import convolve

    if isinstance(one, float) or isinstance(two, float) or one.size * two.size > _MAX_WORK:
        return _total(one) * _total(two)
    return np.asarray(convolve(one, two, method="direct"))


def _total(found: FloatArray | float) -> float:
    return found if isinstance(found, float) else float(found.sum())
