"""What a leaf alone makes certain: smallest and largest counts in closed form.

Everybody of a group of people with the same quasi-identifiers is in one leaf, and the leaf's
numbers are all that is used here.  Every bound is attained by a table that fits the leaf.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]


def bounds_from_counts(
    people: IntArray, leaf: IntArray, counts: IntArray
) -> tuple[IntArray, IntArray]:
    """``max(0, c_x - (n_leaf - n_q)) <= count <= min(n_q, c_x)``.

    Parameters
    ----------
    people : int array
        Persons per group, n_q.
    leaf : int array
        The leaf of every group.
    counts : (leaves, classes) int array
        Published class counts, c_x; rows must add up to the persons in the leaf.
    """
    own = counts[leaf]
    others = (own.sum(axis=1) - people)[:, None]
    return np.maximum(0, own - others), np.minimum(people[:, None], own)


def bounds_from_labels(
    people: IntArray, leaf: IntArray, label: IntArray, n_classes: int
) -> tuple[IntArray, IntArray]:
    """Only which class no other outnumbers is known.

    With ``r = n_leaf - n_q`` others in the leaf: a group holds at most ``min(n_q, ⌊n_leaf / 2⌋)``
    of another class, and at least so many ``j`` of the labelled one that ``r + j`` reaches
    ``⌈(n_q - j) / (m - 1)⌉``, when all others have it and the group's rest is spread evenly.

    Parameters
    ----------
    label : int array
        The class of every leaf.
    """
    total = np.bincount(leaf, weights=people, minlength=len(label)).astype(np.int64)[leaf]
    shape = (len(people), n_classes)
    lower = np.zeros(shape, dtype=np.int64)
    upper = np.broadcast_to(np.minimum(people, total // 2)[:, None], shape).copy()
    rows = np.arange(len(people))
    upper[rows, label[leaf]] = people
    # (m - 1)(r + j) >= n_q - j, solved for j.
    short = people - (n_classes - 1) * (total - people)
    lower[rows, label[leaf]] = np.maximum(0, -(-short // n_classes))
    return lower, upper


def bounds_from_rates(
    people: IntArray, leaf: IntArray, label: IntArray, right: IntArray, n_classes: int
) -> tuple[IntArray, IntArray]:
    """The label and how many of the leaf have it (the error rate) are known.

    The wrong ones are of any other class, but of none more than `right`.  Of one class there are
    thus at least ``n_leaf - right - (m - 2) right`` in the leaf.

    Parameters
    ----------
    right : int array
        Rows of the labelled class in every leaf.
    """
    total = np.bincount(leaf, weights=people, minlength=len(label)).astype(np.int64)[leaf]
    own_right = right[leaf]
    wrong = total - own_right
    others = total - people
    least = np.maximum(0, wrong - (n_classes - 2) * own_right)
    shape = (len(people), n_classes)
    lower = np.broadcast_to(np.maximum(0, least - others)[:, None], shape).copy()
    most = np.minimum(np.minimum(people, wrong), own_right)
    upper = np.broadcast_to(most[:, None], shape).copy()
    rows = np.arange(len(people))
    lower[rows, label[leaf]] = np.maximum(0, own_right - others)
    upper[rows, label[leaf]] = np.minimum(people, own_right)
    return lower, upper
