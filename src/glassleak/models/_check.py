"""Is this a tree?  Vectorised checks that name the node at fault, in time linear in the nodes.

Model files come from strangers: children may be their own ancestors, counts may not add up,
thresholds may sit on columns that do not exist.  Nothing downstream checks again, so every `Tree`
passes here when it is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, MalformedModelError
from glassleak.models._counts import MAX_COUNT, Exact, Missing

if TYPE_CHECKING:
    from glassleak.models._tree import Tree

# Sums of squares of a few million such targets are still finite.
MAX_TARGET = 1e145


def first(mask: npt.NDArray[np.bool_]) -> int | None:
    """Index of the first True, or ``None``."""
    where = np.flatnonzero(mask)
    return int(where[0]) if where.size else None


def plain(values: Iterable[Any]) -> tuple[Any, ...]:
    """Names or labels without numpy's own scalar types, which JSON would not bring back."""
    return tuple(v.item() if isinstance(v, np.generic) else v for v in values)


def check_labels(columns: tuple[str, ...], classes: tuple[Any, ...]) -> None:
    """Column names are distinct strings; class labels are distinct scalars."""
    if not all(isinstance(c, str) for c in columns):
        raise MalformedModelError("column names must be text", "columns")
    if len(set(columns)) != len(columns):
        raise MalformedModelError("a column is listed twice", "columns")
    for i, label in enumerate(classes):
        if not isinstance(label, str | int | float | bool) or (
            isinstance(label, float) and not math.isfinite(label)
        ):
            raise MalformedModelError(f"{label!r} cannot be a class label", f"classes[{i}]")
    if len({(type(label), label) for label in classes}) != len(classes):
        raise MalformedModelError("a class is listed twice", "classes")


def check_classes(classes: tuple[Any, ...]) -> None:
    """Counts per class need classes."""
    if not classes:
        raise MalformedModelError("counts per class, but no classes", "classes")


def check_tree(tree: Tree) -> None:
    """Raise unless `tree` is a well-formed, self-consistent binary tree."""
    check_labels(tree.columns, tree.classes)
    n = len(tree.feature)
    if n == 0:
        raise MalformedModelError("the tree has no nodes", "feature")
    for name in ("threshold", "left", "right", "rows", "distinct_rows", "missing_left",
                 "targets", "spread"):  # fmt: skip
        value = getattr(tree, name)
        if value is not None and len(value) != n:
            raise MalformedModelError(f"{len(value)} entries for {n} nodes", name)
    _check_splits(tree)
    _check_shape(tree)
    _check_counts(tree)
    _check_shares(tree)
    _check_targets(tree)


def _check_targets(tree: Tree) -> None:
    if tree.targets is None:
        if tree.spread is not None:
            raise MalformedModelError("no targets that it could be the spread of", "spread")
        return
    if not isinstance(tree.counts, Missing) or tree.classes:
        raise MalformedModelError("targets as well as classes", "targets")
    for name, values in (("targets", tree.targets), ("spread", tree.spread)):
        if values is not None and (at := first(~(np.abs(values) <= MAX_TARGET))) is not None:
            raise MalformedModelError(f"{values[at]} is no number of use", f"{name}[{at}]")


def _check_shares(tree: Tree) -> None:
    shares = tree.shares
    if shares is None:
        return
    if shares.shape != (len(tree.feature), len(tree.classes)):
        raise MalformedModelError(f"shape {shares.shape}", "shares")
    leaf = tree.feature < 0
    with np.errstate(invalid="ignore", over="ignore"):
        # Written so that NaN is wrong, too.
        right = (shares >= 0).all(axis=1) & (np.abs(shares.sum(axis=1) - 1.0) <= 1e-6)
    if (at := first(leaf & ~right)) is not None:
        raise InconsistentModelError(
            "the class shares of a leaf do not add up to 1", f"shares[{at}]"
        )
    if (at := first(~leaf & (shares != 0).any(axis=1))) is not None:
        raise InconsistentModelError("shares at a node that is no leaf", f"shares[{at}]")


def _check_splits(tree: Tree) -> None:
    internal = tree.feature >= 0
    if (at := first(tree.feature < -1)) is not None:
        raise MalformedModelError(f"{tree.feature[at]} is no column index", f"feature[{at}]")
    if (at := first(tree.feature >= len(tree.columns))) is not None:
        raise MalformedModelError(
            f"splits on column {tree.feature[at]}, but there are {len(tree.columns)} columns",
            f"feature[{at}]",
        )
    if (at := first(internal & ~np.isfinite(tree.threshold))) is not None:
        raise MalformedModelError(f"threshold is {tree.threshold[at]}", f"threshold[{at}]")
    if (at := first(~internal & ~np.isnan(tree.threshold))) is not None:
        raise MalformedModelError("a leaf has a threshold", f"threshold[{at}]")


def _check_shape(tree: Tree) -> None:
    n, internal = len(tree.feature), tree.feature >= 0
    for name in ("left", "right"):
        child = getattr(tree, name)
        if (at := first(internal & ((child < 1) | (child >= n)))) is not None:
            raise MalformedModelError(f"child {child[at]} does not exist", f"{name}[{at}]")
        if (at := first(~internal & (child != -1))) is not None:
            raise MalformedModelError("a leaf has a child", f"{name}[{at}]")
    children = np.concatenate([tree.left[internal], tree.right[internal]])
    parents = np.bincount(children, minlength=n)
    if (at := first(parents > 1)) is not None:
        raise MalformedModelError("two nodes claim this node as their child", f"nodes[{at}]")
    parents[0] = 1  # the root needs none
    if (at := first(parents == 0)) is not None:
        raise MalformedModelError("the node is nobody's child", f"nodes[{at}]")
    if (at := first(node_depths(tree.left, tree.right) < 0)) is not None:
        raise MalformedModelError("the node is its own ancestor", f"nodes[{_on_cycle(tree, at)}]")


def _on_cycle(tree: Tree, start: int) -> int:
    """The first of its own ancestors above a node that the root does not reach."""
    internal = np.flatnonzero(tree.feature >= 0)
    parent = np.empty(len(tree.feature), dtype=np.int64)
    parent[tree.left[internal]] = internal
    parent[tree.right[internal]] = internal
    above, seen = parent.tolist(), set()
    node = start
    while node not in seen:
        seen.add(node)
        node = above[node]
    return int(node)


def node_depths(left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Depth of every node, -1 where the root does not reach it.

    Pointer doubling: O(n log n) whatever the shape, so that a chain of a million nodes costs no
    more than a balanced tree and a cycle ends like everything else.
    """
    n = len(left)
    internal = np.flatnonzero(left >= 0)
    parent = np.full(n, -1, dtype=np.int64)
    parent[left[internal]] = internal
    parent[right[internal]] = internal
    parent[0] = 0
    orphan = parent < 0
    parent[orphan] = np.flatnonzero(orphan)
    return depths_below(parent)


def depths_below(parent: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Depth of every node from the node above each (the root is above itself); see above."""
    n = len(parent)
    depth = np.ones(n, dtype=np.int64)
    depth[0] = 0
    ancestor = parent
    for _ in range(max(1, int(n).bit_length())):
        depth = np.minimum(depth + depth[ancestor], n)
        ancestor = ancestor[ancestor]
        if not ancestor.any():
            break
    return np.where(ancestor == 0, depth, -1).astype(np.int32)


def _check_counts(tree: Tree) -> None:
    n = len(tree.feature)
    internal = np.flatnonzero(tree.feature >= 0)
    if not isinstance(tree.counts, Missing):
        check_classes(tree.classes)
        shape = (n, len(tree.classes))
        if tree.counts.values.shape != shape:
            raise MalformedModelError(
                f"counts have shape {tree.counts.values.shape}, expected {shape}", "counts"
            )
    published: list[tuple[str, npt.NDArray[np.int64]]] = []
    if isinstance(tree.counts, Exact):
        published.append(("counts", tree.counts.values))
    for name in ("rows", "distinct_rows"):
        value = getattr(tree, name)
        if value is not None:
            if (at := first((value < 0) | (value > MAX_COUNT))) is not None:
                raise InconsistentModelError(f"{value[at]} rows", f"{name}[{at}]")
            published.append((name, value[:, None]))
    for name, value in published:
        children = value[tree.left[internal]] + value[tree.right[internal]]
        wrong = (value[internal] != children).any(axis=1)
        if (at := first(wrong)) is not None:
            node = int(internal[at])
            raise InconsistentModelError(
                f"the node has {value[node].tolist()} rows but its children "
                f"{tree.left[node]} and {tree.right[node]} add up to {children[at].tolist()}",
                f"{name}[{node}]",
            )
    totals = tree.counts.totals if isinstance(tree.counts, Exact) else tree.rows
    if totals is None:
        return
    if tree.rows is not None and (at := first(tree.rows != totals)) is not None:
        raise InconsistentModelError(
            f"{tree.rows[at]} rows, but {totals[at]} in all classes together", f"rows[{at}]"
        )
    if tree.distinct_rows is not None:
        wrong_distinct = (tree.distinct_rows > totals) | ((tree.distinct_rows == 0) & (totals > 0))
        if (at := first(wrong_distinct)) is not None:
            raise InconsistentModelError(
                f"{tree.distinct_rows[at]} distinct rows, but {totals[at]} rows in all",
                f"distinct_rows[{at}]",
            )
