"""A published model as partitions of the profiles: every tree, or a rule list, is one part.

A part sends each profile to exactly one *group* (leaf or rule) and publishes how many training
rows of each class every group holds.  All analyses see models only in this form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from glassleak.errors import UnsupportedModelError
from glassleak.knowledge._compare import is_low
from glassleak.knowledge._multiway import multiway_tests
from glassleak.models import (
    Exact,
    Forest,
    Label,
    Model,
    MultiwayTree,
    RuleList,
    Tree,
    node_depths,
)

# What a part is made of: everything but a forest, which is made of trees.
Member: TypeAlias = Tree | RuleList | MultiwayTree


@dataclass(frozen=True)
class Decisions:
    """Yes/no tests that lead from node 0 to a group; nodes may be reached in several ways.

    Attributes
    ----------
    column, threshold : arrays
        The test of each node; column -1 where a group is reached.
    missing_low : bool array
        Where missing values go.
    low, high : int arrays
        The next node, for values below the threshold and above.
    group : int array
        The group reached; -1 at tests.
    """

    column: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    missing_low: npt.NDArray[np.bool_]
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    group: npt.NDArray[np.int32]


@dataclass(frozen=True)
class Part:
    """One partition of the profiles.

    Attributes
    ----------
    name : str
        ``"tree 3"`` or ``"rule list"``.
    groups : tuple of str
        What each group is called, such as ``"leaf 17"``.
    counts : (groups, classes) int array
        Training rows per group and class; one column if the classes are not told apart; -1 where
        the count is not known.
    decisions : Decisions
        How a profile finds its group.
    assign : callable
        ``assign(values)`` gives the group of every row of an array in the model's columns.
    majority : int array, optional
        Where only labels are known: the class of most rows of every group.
    """

    name: str
    groups: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    decisions: Decisions
    assign: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.int32]]
    majority: npt.NDArray[np.int64] | None = None

    @property
    def n_groups(self) -> int:
        return len(self.groups)

    @property
    def by_class(self) -> bool:
        """Whether the counts are per class."""
        return bool(self.counts.shape[1] > 1)


@dataclass(frozen=True)
class Published:
    """Everything several models of one training set publish, as parts over the same columns.

    Attributes
    ----------
    columns, classes : tuple
    parts : tuple of Part
    thresholds : dict of column to array
        Every threshold of every part.
    precision, comparison : str
        How values are compared with thresholds (see `Tree`).
    n_rows : int
    class_totals : int array
    """

    columns: tuple[str, ...]
    classes: tuple[Label, ...]
    parts: tuple[Part, ...]
    thresholds: dict[str, npt.NDArray[np.float64]]
    precision: str
    comparison: str
    n_rows: int
    class_totals: npt.NDArray[np.int64]


def published(
    model: Model | Sequence[Model], visible: Mapping[int, Sequence[int]] | None = None
) -> Published:
    """What `model` (or several models of the same data) publishes.

    Parameters
    ----------
    visible : mapping of tree number to node numbers, optional
        Counts known only at these nodes of these trees; trees not listed are known completely.

    Raises
    ------
    UnsupportedModelError
        When counts are noisy or missing, or trees were trained on bootstrap samples: then group
        counts are not sums over the same rows.
    """
    models = tuple(model) if isinstance(model, Sequence) else (model,)
    if not models:
        raise UnsupportedModelError("no model given")
    head = models[0]
    parts: list[Part] = []
    found: dict[str, list[npt.NDArray[np.float64]]] = {}
    styles = set()
    for number, one in enumerate(models):
        if one.columns != head.columns or one.classes != head.classes:
            raise UnsupportedModelError("the models differ in columns or classes")
        if isinstance(one, Forest) and one.bagging.kind != "none":
            raise UnsupportedModelError(
                "every tree was trained on its own bootstrap sample, so the counts of different "
                "trees do not describe the same rows"
            )
        prefix = f"model {number}, " if len(models) > 1 else ""
        members: tuple[Member, ...] = one.trees if isinstance(one, Forest) else (one,)
        for i, member in enumerate(members):
            kind = "rule list" if isinstance(member, RuleList) else f"tree {i}"
            totals = _totals(member, prefix + kind)
            if isinstance(member, MultiwayTree) and visible:
                raise UnsupportedModelError("counts of some nodes only: for binary trees", kind)
            if isinstance(member, Tree) and visible is not None and i in visible:
                parts += _layers(member, prefix + kind, visible[i])
            else:
                parts.append(_part(member, prefix + kind))
            styles.add((member.precision, getattr(member, "comparison", "<=")))
        for column, thresholds in one.split_evidence().thresholds.items():
            found.setdefault(column, []).append(thresholds)
    if len(styles) > 1:
        raise UnsupportedModelError("the models compare values in different ways")
    precision, comparison = styles.pop()
    merged = {c: np.unique(np.concatenate(v)) for c, v in found.items()}
    return Published(
        head.columns, head.classes, tuple(parts), merged, precision, comparison,
        int(totals.sum()), totals,
    )  # fmt: skip


def _totals(member: Member, name: str) -> npt.NDArray[np.int64]:
    """Training rows per class."""
    if not isinstance(member.counts, Exact):
        raise UnsupportedModelError(
            "exact counts per class are needed, and are not published", name
        )
    values = member.counts.values
    totals: npt.NDArray[np.int64] = (
        values.sum(axis=0) if isinstance(member, RuleList) else values[0]
    )
    return totals


def _layers(tree: Tree, name: str, visible: Sequence[int]) -> list[Part]:
    """A tree of which only some nodes' counts are known: one part per depth that has such nodes.

    At each depth the known nodes are disjoint; everything else is one group of unknown count.
    """
    assert isinstance(tree.counts, Exact)
    chosen = np.zeros(tree.n_nodes, dtype=bool)
    for node in visible:
        if not 0 <= node < tree.n_nodes:
            raise UnsupportedModelError(f"there is no node {node}", name)
        chosen[node] = True
    depth = node_depths(tree.left, tree.right)
    missing = np.zeros(tree.n_nodes, bool) if tree.missing_left is None else tree.missing_left
    parts = []
    for level in np.unique(depth[chosen]).tolist():
        nodes = np.flatnonzero(chosen & (depth == level))
        ends = (depth == level) | (tree.feature < 0)
        group = np.where(ends, len(nodes), -1).astype(np.int32)
        group[nodes] = np.arange(len(nodes), dtype=np.int32)
        decisions = Decisions(tree.feature, tree.threshold, missing, tree.left, tree.right, group)
        elsewhere = np.full((1, len(tree.classes)), -1, dtype=np.int64)
        counts = np.vstack([tree.counts.values[nodes], elsewhere])
        names = (*[f"node {i}" for i in nodes], "elsewhere")
        assign = partial(follow, decisions, tree.precision, tree.comparison)
        parts.append(Part(f"{name} at depth {level}", names, counts, decisions, assign))
    return parts


def follow(
    tests: Decisions, precision: str, comparison: str, values: npt.NDArray[np.float64]
) -> npt.NDArray[np.int32]:
    """The group each row of `values` reaches."""
    node = np.zeros(len(values), dtype=np.int32)
    active = np.flatnonzero(tests.group[node] < 0)
    while active.size:
        here = node[active]
        value = values[active, tests.column[here]]
        low = is_low(value, tests.threshold[here], precision, comparison)
        low = np.where(np.isnan(value), tests.missing_low[here], low)
        node[active] = np.where(low, tests.low[here], tests.high[here])
        active = active[tests.group[node[active]] < 0]
    return tests.group[node]


def _part(member: Member, name: str) -> Part:
    counts = member.counts
    assert isinstance(counts, Exact)
    if isinstance(member, RuleList):
        rules = tuple(f"rule {i}" for i in range(len(member)))
        return Part(name, rules, counts.values, _rule_decisions(member), member.apply)
    if isinstance(member, MultiwayTree):
        return _multiway_part(member, name)
    leaves = member.leaves
    position = np.full(member.n_nodes, -1, dtype=np.int32)
    position[leaves] = np.arange(len(leaves), dtype=np.int32)
    missing = member.missing_left
    decisions = Decisions(
        member.feature,
        member.threshold,
        np.zeros(member.n_nodes, dtype=bool) if missing is None else missing,
        member.left,
        member.right,
        position,
    )

    def assign(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
        return position[member.apply(values)]

    names = tuple(f"leaf {i}" for i in leaves)
    return Part(name, names, counts.values[leaves], decisions, assign)


def _multiway_part(tree: MultiwayTree, name: str) -> Part:
    """The leaves, and a group without people for levels that lead nowhere."""
    assert isinstance(tree.counts, Exact)
    leaves = tree.leaves
    column, threshold, low, high, reached = multiway_tests(tree)
    # Two places at the end: -1 (a test) and -2 (nowhere) count from there.
    position = np.full(tree.n_nodes + 2, -1, dtype=np.int32)
    position[leaves] = np.arange(len(leaves), dtype=np.int32)
    position[-2] = len(leaves)
    decisions = Decisions(
        column, threshold, np.zeros(len(column), bool), low, high, position[reached]
    )
    counts = tree.counts.values[leaves]
    names = tuple(f"leaf {i}" for i in leaves)
    if (reached == -2).any():
        counts = np.vstack([counts, np.zeros_like(counts[:1])])
        names = (*names, "no branch")
    assign = partial(follow, decisions, tree.precision, tree.comparison)
    return Part(name, names, counts, decisions, assign)


def _rule_decisions(rules: RuleList) -> Decisions:
    """A rule list as tests: whatever fails a condition goes on to the next rule.

    Nodes are shared between the ways that lead to the next rule, so the size is linear.
    """
    tests: list[tuple[int, float, bool]] = []
    starts: list[int] = []
    for rule in rules.rules:
        starts.append(len(tests) + len(starts))
        for condition in rule.conditions:
            if np.isfinite(condition.low):
                tests.append((condition.column, condition.low, False))
            if np.isfinite(condition.high):
                tests.append((condition.column, condition.high, True))
    size = len(tests) + len(rules.rules)
    column = np.full(size, -1, dtype=np.int32)
    threshold = np.full(size, np.nan)
    low, high = np.full(size, -1, dtype=np.int32), np.full(size, -1, dtype=np.int32)
    group = np.full(size, -1, dtype=np.int32)
    node, test = 0, 0
    for i in range(len(rules.rules)):
        stop = starts[i + 1] if i + 1 < len(starts) else size
        while node < stop - 1:
            column[node], threshold[node], wants_low = tests[test]
            following, otherwise = node + 1, stop
            low[node], high[node] = (following, otherwise) if wants_low else (otherwise, following)
            node, test = node + 1, test + 1
        group[node] = i
        node += 1
    # A missing value satisfies no condition: it fails the test it stands at.
    missing_low = low > high
    return Decisions(column, threshold, missing_low, low, high, group)


def labels_only(facts: Published) -> Published:
    """The same model for an adversary who sees every group's majority label and no count."""
    parts = tuple(
        replace(
            part,
            counts=np.full_like(part.counts, -1),
            majority=np.argmax(part.counts, axis=1),
        )
        for part in facts.parts
    )
    return replace(facts, parts=parts, class_totals=np.full_like(facts.class_totals, -1))
