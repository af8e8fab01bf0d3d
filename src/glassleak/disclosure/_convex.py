"""One convex maximum-entropy problem over the blocks of a node, solved and certified.

Variables are p(block, class) for leaves that facts cut into several blocks.  The facts are cones:
"this split was not better" is a second-order cone for Gini (distances of the groups from the
node's mean) and a sum of exponential cones for entropy.  The answer's distance from the optimum is
computed here from the dual variables, which bound it whatever the solver thinks of its own work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import clarabel
import numpy as np
import numpy.typing as npt
from scipy import sparse

from glassleak.disclosure._cones import Cones
from glassleak.disclosure._measures import Floats, Measure, impurity
from glassleak.errors import BudgetExhaustedError, InconsistentModelError

# Facts are relaxed by this much per person: without it a tie would leave the solver no room.
EASE = 1e-9
_CONTRADICTION = (
    "no class counts of the known people make every chosen split a best one: they are not the "
    "training set, or the learner did not choose as it is said to"
)


@dataclass(frozen=True)
class Fact:
    """``Σ impurity of the groups >= least``, in people.

    Attributes
    ----------
    blocks : int array
        The blocks of the node, as positions in the component.
    groups : int array
        The group of each of them.
    least : float
    """

    blocks: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]
    least: float


@dataclass(frozen=True)
class Component:
    """Blocks that facts tie together.

    Attributes
    ----------
    leaf : (blocks,) int array
        Leaf of each block, from 0.
    number : (blocks,) int array
        People in each block.
    counts : (leaves, classes) array
        Class counts of each leaf.
    facts : sequence of Fact
    measure : "gini", "entropy" or "gain_ratio"
    """

    leaf: npt.NDArray[np.int64]
    number: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    facts: Sequence[Fact]
    measure: Measure


@dataclass(frozen=True)
class Solved:
    """The estimate for a component.

    Attributes
    ----------
    posterior : (blocks, classes) float array
    gap : float
        At most so far below the maximum entropy, in nats summed over people.
    """

    posterior: Floats
    gap: float


def solve(component: Component, seconds: float = np.inf) -> Solved:
    """Maximise ``Σ n_b H(p_b)`` over everything the leaves and the facts allow.

    Raises
    ------
    InconsistentModelError
        Nothing satisfies all facts.
    BudgetExhaustedError
    """
    counts = component.counts.astype(float)
    size = counts.sum(axis=1)
    mean = counts / size[:, None]
    several = np.bincount(component.leaf, minlength=len(counts)) > 1
    mixed = (component.counts > 0).sum(axis=1) > 1
    free = (several & mixed)[component.leaf]
    posterior = mean[component.leaf]
    # One variable per free block and class the leaf has anybody of.
    variable = np.full(posterior.shape, -1, dtype=np.int64)
    wanted = free[:, None] & (component.counts[component.leaf] > 0)
    variable[wanted] = np.arange(int(wanted.sum()))
    if not free.any():
        for fact in component.facts:
            _add_fact(Cones(0), component, fact, posterior, variable)
        return Solved(posterior, 0.0)
    cones = _formulate(component, posterior, variable, wanted, counts, size)
    x, z, status = cones.solve(seconds)
    if status in (clarabel.SolverStatus.PrimalInfeasible,
                  clarabel.SolverStatus.AlmostPrimalInfeasible):  # fmt: skip
        raise InconsistentModelError(_CONTRADICTION)
    if status == clarabel.SolverStatus.MaxTime:
        raise BudgetExhaustedError("the budget ended while the maximum entropy was computed")
    posterior[wanted] = np.clip(x[: int(wanted.sum())], 0.0, 1.0)
    posterior = _balance(posterior, component, counts, several & mixed)
    weight = component.number[free].sum()
    reached = float((component.number[free] * impurity(posterior[free], "entropy")).sum() / weight)
    gap = max(0.0, cones.bound(z) - reached) * float(weight)
    return Solved(posterior, gap)


def _formulate(
    component: Component,
    posterior: Floats,
    variable: npt.NDArray[np.int64],
    wanted: npt.NDArray[np.bool_],
    counts: Floats,
    size: Floats,
) -> Cones:
    n = int(wanted.sum())
    block, klass = np.nonzero(wanted)
    people = component.number[block].astype(float)
    cones = Cones(n)
    weight = float(component.number[wanted.any(axis=1)].sum())
    entropies = cones.add_variables(people / weight)
    # Equation 5: probabilities of a block add up to one.
    free = np.flatnonzero(wanted.any(axis=1))
    row_of = np.full(len(component.leaf), -1)
    row_of[free] = np.arange(len(free))
    cones.zero(_matrix(row_of[block], np.arange(n), np.ones(n), len(free)), np.ones(len(free)))
    # Rate-constraints: the blocks of a leaf average to its published counts.  The equation of a
    # leaf's last class follows from the others.
    own = component.leaf[block]
    last = counts.shape[1] - 1 - np.argmax(counts[:, ::-1] > 0, axis=1)
    keep = klass != last[own]
    pairs, row = np.unique(own[keep] * counts.shape[1] + klass[keep], return_inverse=True)
    leaf, k = np.divmod(pairs, counts.shape[1])
    cones.zero(
        _matrix(row.reshape(-1), np.flatnonzero(keep), (people / size[own])[keep], len(pairs)),
        counts[leaf, k] / size[leaf],
    )
    for fact in component.facts:
        _add_fact(cones, component, fact, posterior, variable)
    cones.exponential(entropies, sparse.eye_array(n, format="csr"), np.zeros(n))
    return cones


def _add_fact(
    cones: Cones,
    component: Component,
    fact: Fact,
    posterior: Floats,
    variable: npt.NDArray[np.int64],
) -> None:
    m = posterior.shape[1]
    n_groups = int(fact.groups.max()) + 1
    people = component.number[fact.blocks].astype(float)
    sizes = np.bincount(fact.groups, weights=people, minlength=n_groups)
    total = float(sizes.sum())
    own = variable[fact.blocks]
    fixed = np.zeros((n_groups, m))
    np.add.at(fixed, fact.groups, np.where(own < 0, people[:, None] * posterior[fact.blocks], 0.0))
    at, k = np.nonzero(own >= 0)
    if not at.size:  # decided by the leaves alone
        if float(impurity(fixed, component.measure).sum()) < fact.least - 1e-6 * total:
            raise InconsistentModelError(_CONTRADICTION)
        return
    group, columns, value = fact.groups[at], own[at, k], people[at]
    leaves = np.unique(component.leaf[fact.blocks])
    whole = component.counts[leaves].sum(axis=0).astype(float)
    ease = EASE * total
    if component.measure == "gini":
        # Σ (h_gk - n_g C_k / N)² / n_g <= gain: the groups may not stray further from the mean.
        gain = float(impurity(whole, "gini")) - fact.least + ease
        scale = 1.0 / np.sqrt(sizes * total)
        if n_groups == 2:  # the other group mirrors the first
            chosen = group == 0
            group, columns, value = group[chosen], columns[chosen], value[chosen]
            scale, n_rows = np.array([np.sqrt((1 / sizes[0] + 1 / sizes[1]) / total)]), 1
        else:
            n_rows = n_groups
        k_of = k[chosen] if n_groups == 2 else k
        matrix = _matrix(group * m + k_of, columns, value * scale[group], n_rows * m, cones.n)
        target = (sizes[:n_rows, None] * whole / total - fixed[:n_rows]) * scale[:, None]
        cones.second_order(matrix, target.ravel(), float(np.sqrt(max(gain, 0.0) / total)))
        return
    involved = np.unique(group * m + k)
    row = np.searchsorted(involved, group * m + k)
    g, c = np.divmod(involved, m)
    matrix = _matrix(row, columns, value / sizes[group], len(involved), cones.n)
    offset = fixed[g, c] / sizes[g]
    parts = cones.add_variables(np.zeros(len(involved)))
    cones.exponential(parts, matrix, offset)
    # What does not vary counts as it is.
    share = fixed / sizes[:, None]
    steady = -np.where(share > 0, share * np.log(np.where(share > 0, share, 1.0)), 0.0)
    steady[g, c] = 0.0
    least = (fact.least - ease) / total - float((steady * sizes[:, None]).sum()) / total
    cones.at_least(parts, sizes[g] / total, least)


def _matrix(
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    values: Floats,
    n_rows: int,
    n_columns: int | None = None,
) -> sparse.coo_array:
    width = int(columns.max()) + 1 if n_columns is None else n_columns
    return sparse.coo_array((values, (rows, columns)), shape=(n_rows, width))


def _balance(
    posterior: Floats,
    component: Component,
    counts: Floats,
    adjusted: npt.NDArray[np.bool_],
) -> Floats:
    """Scale rows and columns in turn until leaves add up exactly, not just to the tolerance."""
    masses = posterior * component.number[:, None]
    for _ in range(20):
        sums = np.zeros_like(counts)
        np.add.at(sums, component.leaf, masses)
        factor = np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), 0.0)
        masses = masses * np.where(adjusted[:, None], factor, 1.0)[component.leaf]
        rows = masses.sum(axis=1)
        if np.abs(rows / component.number - 1.0).max() < 1e-13:
            break
        masses = masses * (component.number / rows)[:, None]
    out: Floats = masses / masses.sum(axis=1, keepdims=True)
    return out
