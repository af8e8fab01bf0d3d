"""The nodes of one scikit-learn tree as arrays, rewritten and turned into a tree again.

A tree is taken apart with the state it hands to pickle and put together with that of its own
class, so that whatever fields a version of scikit-learn has are carried along.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import MalformedModelError, SanitiseError, UnsupportedModelError

_NEEDED = ("left_child", "right_child", "n_node_samples", "weighted_n_node_samples", "impurity")


@dataclass(frozen=True)
class Nodes:
    """One fitted tree.

    Attributes
    ----------
    nodes : structured array
    values : (nodes, outputs, classes) float array
        Class shares of each node (the mean, for regression).
    n_classes : tuple of int
        Of each output; 1 for regression.
    max_depth : int
    """

    nodes: npt.NDArray[Any]
    values: npt.NDArray[np.float64]
    n_classes: tuple[int, ...]
    max_depth: int

    @property
    def leaves(self) -> npt.NDArray[np.bool_]:
        """Which nodes are leaves."""
        found: npt.NDArray[np.bool_] = self.nodes["left_child"] == -1
        return found

    @property
    def counted(self) -> bool:
        """Whether the numbers of rows are still there."""
        return bool(self.nodes["n_node_samples"].any())


def take_apart(tree: Any) -> Nodes:
    """The arrays of a fitted ``tree_``, copied."""
    _, (_, n_classes, n_outputs), state = tree.__reduce__()
    nodes, values = np.array(state["nodes"]), np.array(state["values"], dtype=np.float64)
    missing = [name for name in _NEEDED if name not in (nodes.dtype.names or ())]
    if missing:
        raise UnsupportedModelError(f"its nodes have no field {missing[0]!r}", "tree_")
    internal = np.flatnonzero(nodes["left_child"] != -1)
    for side in ("left_child", "right_child"):
        # Parents come before their children in every tree scikit-learn grows.
        if (nodes[side][internal] <= internal).any() or (nodes[side] >= len(nodes)).any():
            raise MalformedModelError("a node is not after its parent", f"tree_.{side}")
    if len(values) != len(nodes) or values.shape[1] != n_outputs:
        raise MalformedModelError("not one value per node", "tree_.values")
    return Nodes(nodes, values, tuple(int(c) for c in n_classes), int(state["max_depth"]))


def put_together(nodes: Nodes, like: Any) -> Any:
    """A tree of the class of `like`, with other nodes."""
    kind, arguments, state = like.__reduce__()
    made = kind(*arguments)
    made.__setstate__(
        state
        | {
            "nodes": nodes.nodes,
            "values": np.ascontiguousarray(nodes.values),
            "node_count": len(nodes.nodes),
            "max_depth": nodes.max_depth,
        }
    )
    return made


def without_bookkeeping(tree: Nodes) -> Nodes:
    """Only what a prediction looks at: splits, and the values of leaves.

    Rows per node become 0, weighted rows and impurities NaN: no fitted tree has these, so that
    nobody (nor `glassleak.read`) takes them for figures, and what would be computed from them
    (importances, partial dependence by recursion) comes out as NaN or fails.
    """
    nodes, values = tree.nodes.copy(), tree.values.copy()
    nodes["n_node_samples"] = 0
    nodes["weighted_n_node_samples"] = np.nan
    nodes["impurity"] = np.nan
    values[~tree.leaves] = 0.0
    return replace(tree, nodes=nodes, values=values)


def without_directions(tree: Nodes) -> Nodes:
    """Missing values go right everywhere.

    scikit-learn sends them to the side with more training rows where it saw none in training.
    """
    if "missing_go_to_left" not in (tree.nodes.dtype.names or ()):
        return tree
    nodes = tree.nodes.copy()
    nodes["missing_go_to_left"] = 0
    return replace(tree, nodes=nodes)


def majorities(tree: Nodes) -> Nodes:
    """Leaves say which class is the most frequent (the first of equally frequent ones), no more.

    ``predict`` takes the first largest share of *one* tree, hence stays what it was everywhere.
    """
    values = np.zeros_like(tree.values)
    for output, n_classes in enumerate(tree.n_classes):
        best = tree.values[:, output, :n_classes].argmax(axis=1)
        values[np.arange(len(values)), output, best] = 1.0
    return replace(tree, values=values)


def rounded(tree: Nodes, steps: int) -> Nodes:
    """Shares as multiples of 1 / `steps` that still add up to 1 (largest remainders)."""
    values = np.zeros_like(tree.values)
    for output, n_classes in enumerate(tree.n_classes):
        shares = _shares(tree.values[:, output, :n_classes])
        # Shares a hair below a multiple, by rounding of the division, are that multiple.
        scaled = np.round(shares * steps, 9)
        whole = np.floor(scaled)
        lacking = np.rint(steps - whole.sum(axis=1)).astype(np.int64)
        order = np.argsort(-(scaled - whole), axis=1, kind="stable")
        rank = np.argsort(order, axis=1, kind="stable")
        whole += rank < lacking[:, None]
        values[:, output, :n_classes] = whole / steps
    return replace(tree, values=values)


def suppressed(tree: Nodes, limit: int) -> Nodes:
    """Shares of 0 for classes with fewer than `limit` rows in a node; the rest adds up to 1."""
    _need_counts(tree, "suppress_below")
    values = tree.values.copy()
    for output, n_classes in enumerate(tree.n_classes):
        shares = _shares(tree.values[:, output, :n_classes])
        rows = shares * tree.nodes["weighted_n_node_samples"][:, None]
        if (np.abs(rows - np.rint(rows)) > 1e-6 * np.maximum(1.0, rows)).any():
            raise SanitiseError(
                "suppress_below: rows or classes carry weights, so it is not known how many people "
                "stand behind a share"
            )
        left = np.where(rows < limit - 1e-6, 0.0, shares)
        nothing = left.sum(axis=1) == 0
        # Where no class reaches it the leaf keeps its label, which says least.
        left[nothing, shares[nothing].argmax(axis=1)] = 1.0
        touched = (left != shares).any(axis=1)
        left[touched] /= left[touched].sum(axis=1, keepdims=True)
        values[touched, output, :n_classes] = left[touched]
    return replace(tree, values=values)


def pruned(tree: Nodes, limit: int) -> Nodes:
    """No leaf of fewer than `limit` distinct training rows (but the root).

    A split with a small side is undone: two leaves become one with the values of the node above
    them; a small leaf beside a larger subtree is dropped, and its region falls to that subtree.
    """
    _need_counts(tree, "min_people")
    people = tree.nodes["n_node_samples"]
    left, right = tree.nodes["left_child"].tolist(), tree.nodes["right_child"].tolist()
    size: list[int] = people.tolist()
    becomes = list(range(len(left)))
    ends = [child == -1 for child in left]
    for node in range(len(left) - 1, -1, -1):
        if ends[node]:
            continue
        one, other = becomes[left[node]], becomes[right[node]]
        small = [ends[c] and size[c] < limit for c in (one, other)]
        if not any(small):
            continue
        if ends[one] and ends[other]:
            ends[node] = True
        else:
            becomes[node] = other if small[0] else one
    return _gathered(tree, becomes, ends)


def merged(tree: Nodes) -> Nodes:
    """No split between two leaves that say the same: every answer stays what it was."""
    left, right = tree.nodes["left_child"].tolist(), tree.nodes["right_child"].tolist()
    values = tree.values.copy()
    ends = [child == -1 for child in left]
    for node in range(len(left) - 1, -1, -1):
        if ends[node] or not (ends[left[node]] and ends[right[node]]):
            continue
        if np.array_equal(values[left[node]], values[right[node]]):
            values[node] = values[left[node]]
            ends[node] = True
    if ends == [child == -1 for child in left]:
        return tree
    return _gathered(replace(tree, values=values), list(range(len(left))), ends)


def _gathered(tree: Nodes, becomes: list[int], ends: list[bool]) -> Nodes:
    """The nodes still reached from the root, in the order scikit-learn numbers them."""
    left, right = tree.nodes["left_child"].tolist(), tree.nodes["right_child"].tolist()
    picked: list[int] = []
    links: list[tuple[int, str, int]] = []
    deepest = 0
    stack = [(becomes[0], -1, "", 0)]
    while stack:
        node, parent, side, depth = stack.pop()
        place = len(picked)
        picked.append(node)
        deepest = max(deepest, depth)
        if parent >= 0:
            links.append((parent, side, place))
        if not ends[node]:
            stack.append((becomes[right[node]], place, "right_child", depth + 1))
            stack.append((becomes[left[node]], place, "left_child", depth + 1))
    nodes, values = tree.nodes[picked].copy(), tree.values[picked].copy()
    closed = np.array([ends[node] for node in picked])
    # What scikit-learn writes at leaves: no children (-1), no column and no threshold (-2).
    nodes["left_child"][closed] = nodes["right_child"][closed] = -1
    nodes["feature"][closed] = -2
    nodes["threshold"][closed] = -2.0
    if "missing_go_to_left" in (nodes.dtype.names or ()):
        nodes["missing_go_to_left"][closed] = 0
    for parent, side, place in links:
        nodes[side][parent] = place
    return replace(tree, nodes=nodes, values=values, max_depth=deepest)


def _shares(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Versions before 1.3 store counts."""
    totals = values.sum(axis=1, keepdims=True)
    if np.allclose(totals[totals > 0], 1.0):
        return values
    shares: npt.NDArray[np.float64] = values / np.where(totals > 0, totals, 1.0)
    return shares


def _need_counts(tree: Nodes, option: str) -> None:
    if not tree.counted:
        raise SanitiseError(f"{option}: the numbers of rows were already removed from the model")
