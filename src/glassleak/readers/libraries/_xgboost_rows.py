"""Rows per node from XGBoost's "cover", where the file proves them.

XGBoost publishes the sum of second derivatives per node and no counts.  In the first round every
row has the same prediction (the intercept), so for the usual losses every row has the same second
derivative h, and cover / h is the number of rows: h = p(1-p) for logistic loss, 2 p_k (1-p_k) for
the tree of class k under softmax, 1 for hinge.  Row weights or a weight on one class break this;
then the quotients are not whole numbers and nothing is claimed.  Weights that are whole numbers
cannot be told from repeated rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.models import Tree
from glassleak.models._counts import MAX_COUNT

# Covers are float32 and h comes from a float32 intercept: about 2e-7 of the value each.
_RELATIVE, _ABSOLUTE = 5e-7, 2e-4
# A leaf whose tolerance is larger than this cannot be told from its neighbours.
_HOPELESS = 0.2
_SMOOTHING = 1e-6
_CONVINCING = 50


@dataclass(frozen=True)
class Intercept:
    """Where the first round starts.

    Attributes
    ----------
    objective : str
    scores : tuple of float
        ``base_score``: one number, or one per class.
    n_classes : int
    estimated : bool
        Whether XGBoost worked it out from the labels (otherwise the user set it).
    """

    objective: str
    scores: tuple[float, ...]
    n_classes: int
    estimated: bool

    def shares(self) -> tuple[float, ...] | None:
        """Predicted probabilities before the first round, one per class (of class 1 if binary)."""
        if self.objective == "binary:logistic":
            return (self.scores[0],) if 0 < self.scores[0] < 1 else None
        if self.objective == "binary:logitraw":
            return (1 / (1 + math.exp(-self.scores[0])),) if abs(self.scores[0]) < 30 else None
        if self.objective in ("multi:softprob", "multi:softmax"):
            margins = np.zeros(self.n_classes) if len(self.scores) == 1 else np.array(self.scores)
            with np.errstate(all="ignore"):  # absurd scores give 0, 1 or NaN and then no rows
                powers = np.exp(margins - margins.max())
            return tuple((powers / powers.sum()).tolist())
        return None

    def hessian(self, class_of_tree: int) -> float | None:
        """Second derivative of every row in the first round, or ``None`` if not constant."""
        if self.objective == "binary:hinge":
            return 1.0 if abs(self.scores[0]) < 1 else None
        shares = self.shares()
        if shares is None:
            return None
        if len(shares) == 1:
            return shares[0] * (1 - shares[0]) or None
        return 2 * shares[class_of_tree] * (1 - shares[class_of_tree]) or None

    def fits_whole_table(self, rows: int) -> bool:
        """Whether `rows` are all training rows, as the class shares tell.

        The intercept is estimated from every row, sampled trees or not.  All rows times the shares
        are whole numbers; a sample's are by chance only, once in as many samples as the shares'
        common denominator, which is therefore asked to be large (at equal shares every second
        sample would fit).
        """
        if not self.estimated or rows > 1 / (5 * _RELATIVE):
            return False
        for shares in self._label_shares():
            products = [share * rows for share in shares]
            if all(abs(p - round(p)) <= _ABSOLUTE + _RELATIVE * rows for p in products):
                common = math.gcd(rows, *(round(p) for p in products))
                return rows // common >= _CONVINCING
        return False

    def _label_shares(self) -> list[tuple[float, ...]]:
        """Shares of the classes among all training rows, as each version would have hidden them."""
        shares = self.shares()
        if shares is None:
            return []
        if len(shares) == 1:
            # XGBoost 3 takes the mean; XGBoost 2 takes one Newton step from 1/2 towards it.
            raw = self.objective == "binary:logitraw"
            logit = self.scores[0] if raw else math.log(shares[0] / (1 - shares[0]))
            both = (self.scores[0], 0.5 + logit / 4)
            return [(share,) for share in both if 0 < share < 1]
        if len(self.scores) == 1:
            return []  # a constant, which says nothing about the labels
        # The logarithm was taken of share + 1e-6.
        total = 1 + len(shares) * _SMOOTHING
        return [tuple(share * total - _SMOOTHING for share in shares)]


def rows_from_cover(
    tree: Tree, cover: npt.NDArray[np.float64], hessian: float
) -> npt.NDArray[np.int64] | None:
    """Rows per node when every leaf's quotient is whole and every node's is the sum of its leaves'.

    Leaves are rounded and inner nodes summed, because float32 loses units in large nodes only.
    """
    with np.errstate(all="ignore"):
        quotient = cover / hessian
    if not np.isfinite(quotient).all() or quotient.min() < 0 or quotient[0] > MAX_COUNT:
        return None
    leaves = tree.feature < 0
    whole = np.rint(quotient[leaves])
    tolerance = _ABSOLUTE + _RELATIVE * whole
    if tolerance.max() > _HOPELESS or (np.abs(quotient[leaves] - whole) > tolerance).any():
        return None
    rows = np.zeros(tree.n_nodes, dtype=np.int64)
    rows[leaves] = whole.astype(np.int64)
    for level in reversed(_levels(tree)):
        inner = level[tree.feature[level] >= 0]
        rows[inner] = rows[tree.left[inner]] + rows[tree.right[inner]]
    off = np.abs(quotient - rows) > _ABSOLUTE + 2 * _RELATIVE * rows
    return None if off.any() or rows[0] == 0 else rows


def _levels(tree: Tree) -> list[npt.NDArray[np.int32]]:
    """Nodes by depth, the root first."""
    levels, here = [], np.zeros(1, dtype=np.int32)
    while here.size:
        levels.append(here)
        inner = here[tree.feature[here] >= 0]
        here = np.concatenate([tree.left[inner], tree.right[inner]])
    return levels
