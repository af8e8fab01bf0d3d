"""Who is where in a published tree, and what the tree says about each place.

Everything the estimate and the exact bounds start from.  QIs are kept in *tree order*: those of a
leaf, and of every node above it, are next to each other, so that a node is a range of QIs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from glassleak.disclosure._people import People
from glassleak.errors import InconsistentModelError, SchemaError, UnsupportedModelError
from glassleak.models import Exact, Label, MultiwayTree, Noisy, RuleList, Tree

Level = Literal["labels", "rates", "counts"]
Margin = Mapping[Label, int] | bool | None


@dataclass(frozen=True)
class Node:
    """An internal node: the QIs ``start:stop`` of the problem's order.

    Attributes
    ----------
    number : int
        The node's number in the model.
    start, stop : int
    branches : tuple of (int, int)
        The ranges of QIs its branches hold; branches without people are left out.
    column : int
        The column it asks for.
    used : frozenset of int
        Columns asked for above it.
    """

    number: int
    start: int
    stop: int
    branches: tuple[tuple[int, int], ...]
    column: int
    used: frozenset[int]


@dataclass(frozen=True)
class Problem:
    """What is known of P(sensitive value | QI) before anything is computed.

    Attributes
    ----------
    model : Tree, MultiwayTree or RuleList
    people : People
        In the order of the table given; `order` leads from there to the arrays below.
    level : "labels", "rates" or "counts"
    order : (QIs,) int array
        ``order[i]`` is the position in `people` of the problem's i-th QI.
    number : (QIs,) int array
        People with that QI: n_q.
    values : (QIs, columns) float array
        Values or level codes, as in `People`.
    leaf : (QIs,) int array
        Position of its leaf (or rule) among the leaves that hold people.
    leaf_number : (leaves,) int array
        The leaf's number in the model.
    leaf_start : (leaves + 1,) int array
        The QIs of leaf l are ``leaf_start[l]:leaf_start[l + 1]``.
    leaf_size : (leaves,) int array
        People in each leaf.
    leaf_counts : (leaves, classes) int array
        People of each class, where published; -1 where not.
    leaf_label : (leaves,) int array
        Class of most people; -1 where not published.
    margin : (classes,) int array, optional
        People of each class in the whole training set, if published beside the tree.
    nodes : tuple of Node
        Internal nodes with people in two branches or more, parents first; none for rule lists.
    """

    model: Tree | MultiwayTree | RuleList
    people: People
    level: Level
    order: npt.NDArray[np.intp]
    number: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    leaf: npt.NDArray[np.intp]
    leaf_number: npt.NDArray[np.intp]
    leaf_start: npt.NDArray[np.intp]
    leaf_size: npt.NDArray[np.int64]
    leaf_counts: npt.NDArray[np.int64]
    leaf_label: npt.NDArray[np.int64]
    margin: npt.NDArray[np.int64] | None
    nodes: tuple[Node, ...]

    @property
    def classes(self) -> tuple[Label, ...]:
        return self.model.classes

    @property
    def n_classes(self) -> int:
        return len(self.model.classes)

    @property
    def total(self) -> int:
        return int(self.leaf_size.sum())

    @property
    def complete(self) -> bool:
        """Whether every leaf's class counts are known."""
        return bool((self.leaf_counts >= 0).all())

    def in_given_order(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Rows of an array over the problem's QIs, in the order of `people`."""
        out = np.empty_like(rows)
        out[self.order] = rows
        return out


def problem_of(
    model: Tree | MultiwayTree | RuleList,
    people: People,
    level: Level = "counts",
    margin: Margin = None,
) -> Problem:
    """Send the people through the model and read off what it publishes about their leaves.

    Parameters
    ----------
    margin : bool or mapping of class to number of people, optional
        The distribution of the sensitive attribute, if it is published beside the tree; True
        takes it from the model's counts.

    Raises
    ------
    UnsupportedModelError
        The model does not publish what the level needs.
    SchemaError
        The people cannot be the training set: they do not add up to the leaves' sizes.
    """
    if level not in ("labels", "rates", "counts"):
        raise ValueError(f'level must be "labels", "rates" or "counts", got {level!r}')
    if not model.classes:
        raise UnsupportedModelError("the model has no classes, so nothing to disclose about them")
    if len(set(model.classes)) != len(model.classes):
        raise UnsupportedModelError("two classes compare equal (such as 1 and True)")
    reached = _leaves(model, people)
    rank = visiting_order(model)
    order = np.argsort(rank[reached], kind="stable")
    numbers, leaf = np.unique(rank[reached[order]], return_inverse=True)
    leaf = leaf.reshape(-1)
    by_rank = np.argsort(rank)
    leaf_number = by_rank[numbers]
    start = np.searchsorted(leaf, np.arange(len(leaf_number) + 1))
    number = people.number[order]
    size = np.bincount(leaf, weights=number, minlength=len(leaf_number)).astype(np.int64)
    _check_sizes(model, people, leaf_number, size)
    counts, label = _published(model, level, leaf_number, size)
    totals = _margin(model, margin, people.total)
    if totals is not None and (counts >= 0).all() and (counts.sum(axis=0) != totals).any():
        raise InconsistentModelError("the margin is not what the leaves' counts add up to")
    return Problem(
        model, people, level, order, number, people.values[order], leaf, leaf_number, start, size,
        counts, label, totals,
        nodes_between(model, rank, leaf_number, start),
    )  # fmt: skip


def _leaves(model: Tree | MultiwayTree | RuleList, people: People) -> npt.NDArray[np.int32]:
    try:
        reached = model.apply(people.values)
    except ValueError as error:
        raise SchemaError(str(error)) from None
    if (reached < 0).any():
        line = int(np.flatnonzero(reached < 0)[0])
        raise SchemaError(
            f"quasi-identifier {line} takes a branch nobody of the training set took: this is not "
            "the table the tree was trained on"
        )
    return reached


def visiting_order(model: Tree | MultiwayTree | RuleList) -> npt.NDArray[np.intp]:
    """When a walk through the tree, branch by branch, comes to each node (leaf or rule)."""
    if isinstance(model, RuleList):
        return np.arange(len(model))
    rank = np.empty(model.n_nodes, dtype=np.intp)
    below = children(model)
    stack, when = [0], 0
    while stack:
        node = stack.pop()
        rank[node] = when
        when += 1
        stack += reversed(below[node])
    return rank


def children(model: Tree | MultiwayTree) -> list[list[int]]:
    """The nodes right below each node."""
    below: list[list[int]] = [[] for _ in range(model.n_nodes)]
    if isinstance(model, Tree):
        for node in np.flatnonzero(model.feature >= 0).tolist():
            below[node] = [int(model.left[node]), int(model.right[node])]
    else:
        for node in range(1, model.n_nodes):
            below[int(model.parent[node])].append(node)
    return below


def _check_sizes(
    model: Tree | MultiwayTree | RuleList,
    people: People,
    leaf_number: npt.NDArray[np.intp],
    size: npt.NDArray[np.int64],
) -> None:
    if isinstance(model.counts, Exact):
        published = model.counts.totals
    elif model.rows is not None:
        published = model.rows
    else:
        return
    kind = "rule" if isinstance(model, RuleList) else "leaf"
    ends = np.arange(len(published)) if isinstance(model, RuleList) else model.leaves
    found = np.zeros(len(published), dtype=np.int64)
    found[leaf_number] = size
    wrong = ends[found[ends] != published[ends]]
    if wrong.size:
        at = int(wrong[0])
        raise SchemaError(
            f"{kind} {at} holds {published[at]:,} people, the table puts {found[at]:,} there: it "
            f"is not (all of) the training set ({people.total:,} people given; for a register of "
            "which only some were in it there is disclosure_from_register)"
        )


def _published(
    model: Tree | MultiwayTree | RuleList,
    level: Level,
    leaf_number: npt.NDArray[np.intp],
    size: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Counts per leaf and class (-1 unknown) and labels, at `level`."""
    m, here = len(model.classes), np.arange(len(leaf_number))
    counts = np.full((len(leaf_number), m), -1, dtype=np.int64)
    label = np.full(len(leaf_number), -1, dtype=np.int64)
    own = model.label if isinstance(model, MultiwayTree) else None
    if isinstance(model.counts, Exact):
        full = model.counts.values[leaf_number]
        label = np.argmax(full, axis=1)
        if own is not None:
            label = np.where(own[leaf_number] >= 0, own[leaf_number], label)
        if level == "counts":
            return full.copy(), label
        if level == "rates":
            counts[here, label] = full[here, label]
    elif isinstance(model, MultiwayTree) and own is not None:
        label = own[leaf_number].astype(np.int64)
        if (label < 0).any():
            raise UnsupportedModelError("some leaves have neither counts nor a label")
        errors = None if model.errors is None else model.errors[leaf_number]
        if level != "labels":
            if errors is None or (errors < 0).any():
                raise UnsupportedModelError(f"the model publishes no {level}, only labels")
            if level == "counts" and m > 2:
                raise UnsupportedModelError("the model publishes no counts, only error rates")
            counts[here, label] = size - errors
    else:
        noisy = isinstance(model.counts, Noisy)
        raise UnsupportedModelError(
            "the published counts carry noise; the estimate needs exact ones"
            if noisy
            else "neither counts nor labels of the leaves are published"
        )
    return _completed(counts, size), label


def _completed(counts: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Fill in what follows: nobody is left over, or one class takes all who are."""
    unknown = counts < 0
    rest = size - np.where(unknown, 0, counts).sum(axis=1)
    if (rest < 0).any():
        at = int(np.flatnonzero(rest < 0)[0])
        raise InconsistentModelError("more people of one class than people", f"leaf {at}")
    filled = np.where(unknown & (rest == 0)[:, None], 0, counts)
    single = (filled < 0).sum(axis=1) == 1
    return np.where((filled < 0) & single[:, None], rest[:, None], filled)


def _margin(
    model: Tree | MultiwayTree | RuleList, margin: Margin, total: int
) -> npt.NDArray[np.int64] | None:
    if margin is None or margin is False:
        return None
    if margin is True:
        if not isinstance(model.counts, Exact):
            raise UnsupportedModelError("the model does not say how many people each class has")
        values = model.counts.values
        own: npt.NDArray[np.int64] = (
            values.sum(axis=0) if isinstance(model, RuleList) else values[0]
        )
        return own
    absent = [c for c in model.classes if c not in margin]
    extra = [c for c in margin if c not in model.classes]
    if absent or extra:
        raise SchemaError(f"the margin must name every class, and no other: {absent + extra}")
    numbers = [margin[c] for c in model.classes]
    if any(isinstance(n, bool) or int(n) != n or n < 0 for n in numbers) or sum(numbers) != total:
        raise SchemaError(f"the margin must be whole numbers of people that add up to {total:,}")
    return np.array([int(n) for n in numbers], dtype=np.int64)


def nodes_between(
    model: Tree | MultiwayTree | RuleList,
    rank: npt.NDArray[np.intp],
    leaf_number: npt.NDArray[np.intp],
    leaf_start: npt.NDArray[np.intp],
) -> tuple[Node, ...]:
    """Internal nodes with people in two branches or more, parents first."""
    if isinstance(model, RuleList):
        return ()
    below = children(model)
    spans = _spans(below, rank, leaf_number, leaf_start)
    nodes = []
    # Columns asked for on the way: a frozenset is shared by everything below.
    stack: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while stack:
        number, used = stack.pop()
        column = int(model.feature[number])
        if column < 0 or spans[number][0] == spans[number][1]:
            continue
        branches = tuple(spans[c] for c in below[number] if spans[c][0] < spans[c][1])
        if len(branches) > 1:
            nodes.append(Node(number, *spans[number], branches, column, used))
        deeper = used if column in used else used | {column}
        stack += [(c, deeper) for c in reversed(below[number])]
    return tuple(nodes)


def _spans(
    below: list[list[int]],
    rank: npt.NDArray[np.intp],
    leaf_number: npt.NDArray[np.intp],
    leaf_start: npt.NDArray[np.intp],
) -> list[tuple[int, int]]:
    """The range of QIs in every node; empty where nobody is."""
    spans = [(0, 0)] * len(below)
    for position, number in enumerate(leaf_number.tolist()):
        spans[number] = (int(leaf_start[position]), int(leaf_start[position + 1]))
    for node in np.argsort(rank)[::-1].tolist():
        inside = [spans[c] for c in below[node] if spans[c][0] < spans[c][1]]
        if inside:
            spans[node] = (min(s for s, _ in inside), max(s for _, s in inside))
    return spans
