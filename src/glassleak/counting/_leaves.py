"""Profiles per leaf of a tree: the product of what remains of each attribute (Equation 11)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from glassleak.counting._regions import TreeRegions


def count_leaves(regions: TreeRegions) -> tuple[list[int], npt.NDArray[np.float64]]:
    """Profiles of every leaf, and the share of an attribute that remains uncertain on average.

    One walk over the tree, whatever its depth: every node changes one attribute of its parent.

    Returns
    -------
    profiles : list of int
        Exact; 0 where no profile of the schema reaches a leaf.
    remaining : float array
        Mean over attributes of (bits that remain / bits without the model), Equation 1 of the
        paper for one row.  Attributes with a single level carry no uncertainty and are left out.
    """
    tree, domains = regions.tree, regions.domains
    left, right, feature = tree.left.tolist(), tree.right.tolist(), tree.feature.tolist()
    number = np.full(tree.n_nodes, -1, dtype=np.int64)
    number[regions.numbers] = np.arange(len(regions))
    whole = [math.log2(domain.n_levels) for domain in domains]
    uncertain = sum(bits > 0 for bits in whole)
    masks = [domain.everything for domain in domains]
    profiles = [0] * len(regions)
    remaining = np.zeros(len(regions))
    # (node, attribute, its levels here, profiles, sum of shares); node -1: set the levels back.
    start = (0, 0, masks[0], math.prod(domain.n_levels for domain in domains), float(uncertain))
    stack = [start]
    while stack:
        node, attribute, mask, count, shares = stack.pop()
        before, masks[attribute] = masks[attribute], mask
        if node < 0:
            continue
        if feature[node] < 0:
            profiles[number[node]] = count
            remaining[number[node]] = shares / uncertain if uncertain and count else 0.0
            masks[attribute] = before
            continue
        stack.append((-1, attribute, before, 0, 0.0))
        tested, low = regions.low(node)
        domain, here = domains[tested], masks[tested]
        size = domain.size(here)
        for child, part in ((right[node], here & ~low), (left[node], here & low)):
            own = domain.size(part)
            some = count // size * own if size else 0
            lost = (
                (math.log2(size) - math.log2(own)) / whole[tested] if some and own < size else 0.0
            )
            stack.append((child, tested, part, some, shares - lost))
    return profiles, remaining
