"""One nonlinear program over blocks, for levels at which split facts are not convex.

Where a node's class counts are not published, the chosen split's impurity is itself unknown and
"no other split was better" compares two concave functions.  Interior points find local optima of
such problems; they are called that.  CasADi, with the IPOPT it brings, is an optional extra.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from glassleak.disclosure._measures import Floats, Measure, split_information
from glassleak.errors import MissingExtraError

# Facts may be missed by this much per person, so that ties leave the solver room.
_EASE = 1e-8
# Keeps logarithms away from zero; far below any probability that is reported.
_TINY = 1e-12


@dataclass(frozen=True)
class Comparison:
    """A candidate split and the chosen one, as groups of the program's blocks.

    Attributes
    ----------
    blocks : int array
        Blocks of the node.
    candidate, chosen : int arrays
        The group of each under either split.
    """

    blocks: npt.NDArray[np.int64]
    candidate: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Program:
    """Blocks, what their leaves publish, and which splits are compared.

    Attributes
    ----------
    leaf, number : int arrays
        Leaf (from 0) and people of every block.
    counts : (leaves, classes) int array
        -1 where not published.
    label : (leaves,) int array
    margin : (classes,) int array, optional
        People of each class in the blocks together.
    comparisons : sequence of Comparison
    measure : "gini", "entropy" or "gain_ratio"
    """

    leaf: npt.NDArray[np.int64]
    number: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    margin: npt.NDArray[np.int64] | None
    comparisons: Sequence[Comparison]
    measure: Measure


def load_casadi() -> Any:
    """CasADi, or an error that names the extra."""
    try:
        import casadi
    except ImportError:
        raise MissingExtraError(
            "split facts at this level make the problem non-convex, which needs CasADi: "
            "pip install 'glassleak[nonconvex]', or leave split facts out"
        ) from None
    return casadi


class LocalSolver:
    """The program, ready to be started from several points."""

    def __init__(self, program: Program, seconds: float) -> None:
        self._ca = ca = load_casadi()
        self.program = program
        m, b = program.counts.shape[1], len(program.number)
        self._shape = (b, m)
        x = ca.MX.sym("p", b * m)
        weights = program.number / program.number.sum()
        objective = ca.dot(ca.DM(np.repeat(weights, m)), x * ca.log(x + _TINY))
        matrix, low, high = _linear(program)
        rows = [ca.mtimes(_dm(ca, matrix), x)]
        for comparison in program.comparisons:
            rows.append(self._better(x, comparison))
            low = np.append(low, -np.inf)
            high = np.append(high, _EASE)
        options = {
            "print_time": False,
            "show_eval_warnings": False,
            "ipopt": {
                "print_level": 0, "sb": "yes", "tol": 1e-9, "max_iter": 500,
                "max_wall_time": float(min(max(seconds, 0.1), 1e6)), "mu_strategy": "adaptive",
                # Logarithms have no values just below zero.
                "bound_relax_factor": 0.0,
            },
        }  # fmt: skip
        nlp = {"x": x, "f": objective, "g": ca.vertcat(*rows)}
        self._solver = ca.nlpsol("disclosure", "ipopt", nlp, options)
        self._low, self._high = low, high
        self._rows = ca.Function("rows", [x], [nlp["g"]])

    def solve(self, start: Floats) -> Floats:
        """A local optimum near `start`; whether it is one is for the caller to check."""
        upper = np.ones(self._shape)
        # Classes nobody in the leaf has need no variable freedom.
        upper[self.program.counts[self.program.leaf] == 0] = 0.0
        found = self._solver(
            x0=np.clip(start, 1e-6, 1.0).ravel(), lbx=0.0, ubx=upper.ravel(),
            lbg=self._low, ubg=self._high,
        )  # fmt: skip
        values = np.array(found["x"]).reshape(self._shape)
        posterior = np.clip(np.nan_to_num(values), 0.0, 1.0)
        sums = posterior.sum(axis=1, keepdims=True)
        out: Floats = np.where(sums > 0, posterior / np.where(sums > 0, sums, 1.0), start)
        return out

    def violation(self, posterior: Floats) -> float:
        """The most any row of the program is missed by."""
        rows = np.array(self._rows(posterior.ravel())).ravel()
        missed = np.maximum(self._low - rows, rows - self._high)
        return float(np.max(missed, initial=0.0))

    def _impurity(
        self, x: Any, blocks: npt.NDArray[np.int64], groups: npt.NDArray[np.int64]
    ) -> tuple[Any, Floats]:
        """Impurity per person of the node under a split, and its group sizes."""
        ca, m = self._ca, self._shape[1]
        people = self.program.number[blocks].astype(float)
        n_groups = int(groups.max()) + 1
        sizes = np.bincount(groups, weights=people, minlength=n_groups).astype(np.float64)
        k = np.arange(m)
        matrix = sparse.coo_array(
            (
                np.repeat(people / sizes[groups], m),
                (
                    (groups[:, None] * m + k).ravel(),
                    (blocks[:, None] * m + k).ravel(),
                ),
            ),
            shape=(n_groups * m, x.shape[0]),
        )
        shares = ca.mtimes(_dm(ca, matrix), x)
        weights = ca.DM(np.repeat(sizes / sizes.sum(), m))
        if self.program.measure == "gini":
            return 1 - ca.dot(weights, shares * shares), sizes
        return -ca.dot(weights, shares * ca.log(shares + _TINY)), sizes

    def _better(self, x: Any, comparison: Comparison) -> Any:
        """How much better the candidate is than the chosen split: must not be positive."""
        other, sizes = self._impurity(x, comparison.blocks, comparison.candidate)
        chosen, own = self._impurity(x, comparison.blocks, comparison.chosen)
        if self.program.measure != "gain_ratio":
            return chosen - other
        whole, _ = self._impurity(x, comparison.blocks, np.zeros_like(comparison.blocks))
        other_bits = float(split_information(sizes)) / sizes.sum()
        own_bits = float(split_information(own)) / own.sum()
        return (whole - other) * own_bits - (whole - chosen) * other_bits


def _linear(program: Program) -> tuple[sparse.coo_array, Floats, Floats]:
    """QI-, rate-, label- and SA-constraints as ``low <= A x <= high``."""
    b, m = len(program.number), program.counts.shape[1]
    size = np.bincount(program.leaf, weights=program.number)
    share = program.number / size[program.leaf]
    parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]] = []
    low: list[float] = []
    high: list[float] = []
    block = np.arange(b)
    parts += [(block, block * m + k, np.ones(b)) for k in range(m)]
    low += [1.0] * b
    high += [1.0] * b
    members = [np.flatnonzero(program.leaf == one) for one in range(len(size))]
    for leaf, inside in enumerate(members):
        known = np.flatnonzero(program.counts[leaf] >= 0)
        # Zeros are bounds of the variables; the last class of a full leaf follows.
        exact = [k for k in known.tolist() if program.counts[leaf, k] > 0]
        if len(known) == m and exact:
            exact = exact[:-1]
        for k in exact:
            parts.append((np.full(len(inside), len(low)), inside * m + k, share[inside]))
            low.append(program.counts[leaf, k] / size[leaf])
            high.append(low[-1])
        label = int(program.label[leaf])
        for k in np.flatnonzero(program.counts[leaf] < 0).tolist():
            if k != label and label >= 0:
                at = np.full(len(inside), len(low))
                parts.append((at, inside * m + label, share[inside]))
                parts.append((at, inside * m + k, -share[inside]))
                low.append(0.0)
                high.append(np.inf)
    if program.margin is not None:
        weight = program.number / program.number.sum()
        for k in range(m - 1):
            parts.append((np.full(b, len(low)), block * m + k, weight))
            low.append(program.margin[k] / program.number.sum())
            high.append(low[-1])
    rows, columns, values = (np.concatenate(one) for one in zip(*parts, strict=True))
    matrix = sparse.coo_array((values, (rows, columns)), shape=(len(low), b * m))
    return matrix, np.array(low), np.array(high)


def _dm(ca: Any, matrix: sparse.coo_array) -> Any:
    return ca.DM(sparse.csc_matrix(matrix))
