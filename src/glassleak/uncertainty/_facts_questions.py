"""The splits a learner could have made on each attribute, and what leaves allow of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.knowledge._compare import is_low
from glassleak.models import Tree
from glassleak.schema import Attribute

BoolArray = npt.NDArray[np.bool_]
# Attributes with more levels are left out, and of long lists of splits only some are used.
MAX_LEVELS, MAX_QUESTIONS = 4096, 24
# scikit-learn does not split between values closer than 1e-7.
_CLOSE = 1e-6


@dataclass(frozen=True)
class Questions:
    """All splits of one attribute.

    Attributes
    ----------
    attribute : Attribute
    low : (questions, levels) bool array
        Which levels go left; splits that divide the levels in the same two sets are listed once.
    allowed : (nodes, levels) bool array
        Levels that reach each node.
    every : bool
        Whether all splits are listed.
    """

    attribute: Attribute
    low: BoolArray
    allowed: BoolArray
    every: bool


def questions_of(tree: Tree, attribute: Attribute) -> Questions | None:
    """The splits of `attribute`; ``None`` where they cannot be listed."""
    if attribute.size is None or attribute.size > MAX_LEVELS:
        return None
    levels = attribute.level_values().astype(np.float32).astype(np.float64)
    if np.isnan(levels).any():
        return None
    found: dict[bytes, BoolArray] = {}
    for column in range(levels.shape[1]):
        values = np.unique(levels[:, column])
        if len(values) > 1 and np.diff(values).min() < _CLOSE:
            return None
        for cut in values[:-1]:
            low = levels[:, column] <= cut
            # A split and its mirror image divide people alike.
            found.setdefault(min(low.tobytes(), (~low).tobytes()), low)
    listed = list(found.values())
    every = len(listed) <= MAX_QUESTIONS
    if not every:
        some = np.unique(np.linspace(0, len(listed) - 1, MAX_QUESTIONS).round().astype(int))
        listed = [listed[i] for i in some]
    low = np.array(listed, dtype=bool).reshape(len(listed), len(levels))
    return Questions(attribute, low, _reaching(tree, attribute, levels), every)


def _reaching(tree: Tree, attribute: Attribute, levels: npt.NDArray[np.float64]) -> BoolArray:
    """(nodes, levels): which levels of the attribute reach each node."""
    position = {tree.columns.index(c): i for i, c in enumerate(attribute.columns)}
    allowed = np.zeros((tree.n_nodes, len(levels)), dtype=bool)
    allowed[0] = True
    stack = [0]
    while stack:
        node = stack.pop()
        if tree.feature[node] < 0:
            continue
        left, right = int(tree.left[node]), int(tree.right[node])
        stack += [left, right]
        allowed[left] = allowed[right] = allowed[node]
        column = position.get(int(tree.feature[node]))
        if column is not None:
            cut = np.full(len(levels), tree.threshold[node])
            low = is_low(levels[:, column], cut, tree.precision, tree.comparison)
            allowed[left] = allowed[node] & low
            allowed[right] = allowed[node] & ~low
    return allowed
