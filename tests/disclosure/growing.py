"""Small random tables with trees grown on them, and the problem written down a second time.

`monolithic` knows nothing of the package's solvers: one variable per QI and class, every candidate
split of every node as a constraint, found by going through the rows of the table.
"""

from __future__ import annotations

import importlib
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.learners import ID3Classifier
from glassleak.models import MultiwayTree

D2 = pd.DataFrame(
    [
        ("Youth", "Doctorate", "<=50K"),
        ("Youth", "Doctorate", "<=50K"),
        ("Senior", "Masters", "<=50K"),
        ("Senior", "Doctorate", ">50K"),
        ("MiddleAge", "Masters", ">50K"),
        ("MiddleAge", "Masters", ">50K"),
    ],
    columns=["Age", "Education", "Salary"],
)


def cvxpy():
    """The independent solver, or skip the test."""
    # It loads its own HiGHS if it can, after which OR-Tools cannot be imported any more.
    importlib.import_module("ortools.sat.python.cp_model")
    return pytest.importorskip("cvxpy")


def random_table(seed: int, n_rows: int = 40, n_columns: int = 4, n_levels: int = 3,
                 n_classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:  # fmt: skip
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"c{i}": rng.integers(0, n_levels, n_rows) for i in range(n_columns)})
    return table, rng.integers(0, n_classes, n_rows)


def grown(kind: str, criterion: str, seed: int, *, depth: int = 3, min_leaf: int = 1, **more):
    """The model, its table, and the true classes."""
    table, truth = random_table(seed, **more)
    if kind == "levels":
        fitted = ID3Classifier(criterion, max_depth=depth).fit(table, truth)
    else:
        fitted = DecisionTreeClassifier(
            criterion=criterion, max_depth=depth, min_samples_leaf=min_leaf, random_state=seed
        ).fit(table, truth)
    return gl.read(fitted), table, truth


def impurity(counts, measure: str):
    n = counts.sum()
    if n == 0:
        return 0.0
    if measure == "gini":
        return n - (counts**2).sum() / n
    counts = counts[counts > 0]
    return -(counts * np.log(counts / n)).sum()


def nodes_by_hand(model, table):
    """For every internal node: its rows, the groups of the chosen split, and the candidates'."""
    multiway = isinstance(model, MultiwayTree)
    values = model.encode(table) if multiway else table.to_numpy(float)
    stack = [(0, np.arange(len(table)), frozenset())]
    while stack:
        node, rows, used = stack.pop()
        column = int(model.feature[node])
        if column < 0:
            continue
        if multiway:
            below = [
                (c, rows[values[rows, column] == model.branch[c]])
                for c in np.flatnonzero(model.parent == node)
            ]
            others = [
                [rows[values[rows, c] == v] for v in np.unique(values[rows, c])]
                for c in range(values.shape[1])
                if c != column and c not in used and len(np.unique(values[rows, c])) > 1
            ]
        else:
            low = values[rows, column] <= model.threshold[node]
            below = [(model.left[node], rows[low]), (model.right[node], rows[~low])]
            smallest = model.provenance.settings["min_samples_leaf"]
            others = []
            for c in range(values.shape[1]):
                for a, b in pairwise(np.unique(values[rows, c])):
                    left = values[rows, c] <= (a + b) / 2
                    if min(left.sum(), (~left).sum()) >= smallest:
                        others.append([rows[left], rows[~left]])
        yield node, rows, [r for _, r in below], others
        stack += [(int(c), r, used | {column}) for c, r in below if len(r)]


def monolithic(model, table, measure: str) -> np.ndarray:
    """The posterior of every row, by cvxpy."""
    cp = cvxpy()
    distinct, of = np.unique(table.to_numpy(), axis=0, return_inverse=True)
    of = of.reshape(-1)
    n, m = np.bincount(of), len(model.classes)
    multiway = isinstance(model, MultiwayTree)
    leaf = model.apply(model.encode(table) if multiway else table.to_numpy(float))
    counts = model.counts.values
    of_leaf = np.zeros(len(distinct), dtype=int)
    of_leaf[of] = leaf
    # Entries that are zero in every table, and equations that follow, would leave no interior.
    at, k = np.nonzero(counts[of_leaf] > 0)
    x = cp.Variable(len(at), nonneg=True)

    def total(rows):
        people = np.bincount(of[rows], minlength=len(distinct))
        matrix = np.zeros((m, len(at)))
        matrix[k, np.arange(len(at))] = people[at]
        return matrix @ x

    facts = [cp.sum(x[np.flatnonzero(at == q)]) == 1 for q in range(len(distinct))]
    for one in np.unique(leaf):
        sums = total(np.flatnonzero(leaf == one))
        facts += [sums[i] == counts[one, i] for i in np.flatnonzero(counts[one])[:-1]]
    for node, rows, chosen, others in nodes_by_hand(model, table):
        base = "gini" if measure == "gini" else "entropy"
        own = sum(impurity(_counts_of(model, leaf, branch), base) for branch in chosen)
        whole, size = impurity(counts[node], base), len(rows)
        for groups in others:
            if all(any(np.array_equal(a, b) for b in chosen) for a in groups):
                continue
            least = own
            if measure == "gain_ratio":
                bits = _bits(groups, size)
                least = whole - (whole - own) / _bits(chosen, size) * bits
            terms = []
            for group in groups:
                h, g = total(group), len(group)
                if base == "gini":
                    terms.append(g - cp.sum_squares(h) / g)
                else:
                    terms.append(g * cp.sum(cp.entr(h / g)))
            facts.append(sum(terms) >= least - 1e-9 * size)
    gain = cp.sum(cp.multiply(n[at], cp.entr(x)))
    problem = cp.Problem(cp.Maximize(gain), facts)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert problem.status in ("optimal", "optimal_inaccurate")
    shares = np.zeros((len(distinct), m))
    shares[at, k] = x.value
    return shares[of]


def _counts_of(model, leaf, rows):
    """Class counts of a branch from the leaves below it, which the model publishes."""
    return model.counts.values[np.unique(leaf[rows])].sum(axis=0)


def _bits(groups, size):
    shares = np.array([len(g) / size for g in groups if len(g)])
    return -size * (shares * np.log(shares)).sum()
