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
    """The program, ready to be started from several points.

    Shares of every group are variables of their own, tied to the blocks by linear equations: then
    the Hessian is diagonal, and tens of thousands of blocks remain solvable.
    """

    def __init__(self, program: Program, seconds: float) -> None:
        self._ca = ca = load_casadi()
        self.program = program
        m, b = program.counts.shape[1], len(program.number)
        self._shape = (b, m)
        splits = _Splits(program)
        x = ca.MX.sym("x", b * m + splits.n_shares)
        p, shares = x[: b * m], x[b * m :]
        weights = program.number / program.number.sum()
        objective = ca.dot(ca.DM(np.repeat(weights, m)), p * ca.log(p + _TINY))
        matrix, low, high = _linear(program)
        self._to_shares = splits.matrix()
        rows = [
            ca.mtimes(_dm(ca, matrix), p),
            ca.mtimes(_dm(ca, self._to_shares), p) - shares,
            *[_better(ca, shares, splits, c, program.measure) for c in program.comparisons],
        ]
        facts = len(program.comparisons)
        zeros = np.zeros(splits.n_shares)
        self._low = np.concatenate([low, zeros, np.full(facts, -np.inf)])
        self._high = np.concatenate([high, zeros, np.full(facts, _EASE)])
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
        self._rows = ca.Function("rows", [x], [nlp["g"]])

    def solve(self, start: Floats) -> Floats:
        """A local optimum near `start`; whether it is one is for the caller to check."""
        upper = np.ones(self._shape)
        # Nobody in the leaf has these classes.
        upper[self.program.counts[self.program.leaf] == 0] = 0.0
        first = np.clip(start, 1e-6, 1.0).ravel()
        found = self._solver(
            x0=np.concatenate([first, self._to_shares @ first]),
            lbx=0.0,
            ubx=np.concatenate([upper.ravel(), np.ones(self._to_shares.shape[0])]),
            lbg=self._low,
            ubg=self._high,
        )
        values = np.array(found["x"]).ravel()[: upper.size].reshape(self._shape)
        posterior = np.clip(np.nan_to_num(values), 0.0, 1.0)
        sums = posterior.sum(axis=1, keepdims=True)
        out: Floats = np.where(sums > 0, posterior / np.where(sums > 0, sums, 1.0), start)
        return out

    def violation(self, posterior: Floats) -> float:
        """The most any row of the program is missed by."""
        flat = posterior.ravel()
        rows = np.array(self._rows(np.concatenate([flat, self._to_shares @ flat]))).ravel()
        missed = np.maximum(self._low - rows, rows - self._high)
        return float(np.max(missed, initial=0.0))


class _Splits:
    """The groups of every split that is compared, once each, and where their shares stand."""

    def __init__(self, program: Program) -> None:
        self._program, self._m = program, program.counts.shape[1]
        self._parts: list[sparse.coo_array] = []
        self._known: dict[tuple[bytes, bytes], tuple[slice, Floats]] = {}
        self.n_shares = 0
        for comparison in program.comparisons:
            for groups in (comparison.candidate, comparison.chosen, _one_group(comparison)):
                self._add(comparison.blocks, groups)

    def _add(self, blocks: npt.NDArray[np.int64], groups: npt.NDArray[np.int64]) -> None:
        key = (blocks.tobytes(), groups.tobytes())
        if key in self._known:
            return
        m = self._m
        people = self._program.number[blocks].astype(float)
        n_groups = int(groups.max()) + 1
        sizes = np.bincount(groups, weights=people, minlength=n_groups).astype(np.float64)
        k = np.arange(m)
        part = sparse.coo_array(
            (
                np.repeat(people / sizes[groups], m),
                ((groups[:, None] * m + k).ravel(), (blocks[:, None] * m + k).ravel()),
            ),
            shape=(n_groups * m, len(self._program.number) * m),
        )
        self._parts.append(part)
        self._known[key] = (slice(self.n_shares, self.n_shares + n_groups * m), sizes)
        self.n_shares += n_groups * m

    def find(
        self, blocks: npt.NDArray[np.int64], groups: npt.NDArray[np.int64]
    ) -> tuple[slice, Floats]:
        """Where the shares of a split stand, and its group sizes."""
        return self._known[blocks.tobytes(), groups.tobytes()]

    def matrix(self) -> sparse.csr_array:
        """From blocks to shares."""
        return sparse.csr_array(sparse.vstack(self._parts))


def _one_group(comparison: Comparison) -> npt.NDArray[np.int64]:
    return np.zeros_like(comparison.candidate)


def _better(ca: Any, shares: Any, splits: _Splits, comparison: Comparison, measure: Measure) -> Any:
    """How much better the candidate is than the chosen split: must not be positive."""

    def impurity(groups: npt.NDArray[np.int64]) -> tuple[Any, Floats]:
        where, sizes = splits.find(comparison.blocks, groups)
        own = shares[where]
        weights = ca.DM(np.repeat(sizes / sizes.sum(), own.shape[0] // len(sizes)))
        if measure == "gini":
            return 1 - ca.dot(weights, own * own), sizes
        return -ca.dot(weights, own * ca.log(own + _TINY)), sizes

    other, sizes = impurity(comparison.candidate)
    chosen, own = impurity(comparison.chosen)
    if measure != "gain_ratio":
        return chosen - other
    whole, _ = impurity(_one_group(comparison))
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


def _dm(ca: Any, matrix: sparse.coo_array | sparse.csr_array) -> Any:
    return ca.DM(sparse.csc_matrix(matrix))
