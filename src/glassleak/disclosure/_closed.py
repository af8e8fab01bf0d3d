"""What every QI of a leaf gets before split facts are used: closed forms (Section 4.1).

Without facts that look inside a leaf, all its QIs are alike, and the most uncertain distribution
that fits the leaf is the same for each of them.
"""

from __future__ import annotations

import numpy as np

from glassleak.disclosure._measures import Floats
from glassleak.disclosure._problem import Problem
from glassleak.errors import InconsistentModelError


def leaf_distributions(problem: Problem) -> Floats:
    """The maximum-entropy distribution of every leaf, if nothing ties leaves together.

    Published counts are kept; whoever is left over is spread evenly over the classes whose count
    is not published.  With labels alone that is the uniform distribution.
    """
    unknown = problem.leaf_counts < 0
    size = problem.leaf_size.astype(float)
    known = np.where(unknown, 0, problem.leaf_counts)
    rest = size - known.sum(axis=1)
    share = rest / np.maximum(unknown.sum(axis=1), 1)
    masses = np.where(unknown, share[:, None], known)
    check_labels_hold(problem, masses)
    out: Floats = masses / size[:, None]
    return out


def check_labels_hold(problem: Problem, masses: Floats) -> None:
    """Label-constraints: no class is more frequent than the label of its leaf."""
    leaves = np.arange(len(masses))
    told = problem.leaf_label >= 0
    own = masses[leaves, np.maximum(problem.leaf_label, 0)]
    wrong = told & (masses.max(axis=1) > own * (1 + 1e-12) + 1e-9)
    if wrong.any():
        at = int(problem.leaf_number[np.flatnonzero(wrong)[0]])
        raise InconsistentModelError(
            "so few people have the published class that another must be more frequent",
            f"leaf {at}",
        )
