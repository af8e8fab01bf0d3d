"""Class shares of leaves that no longer say how many people they hold.

A share is a fraction with the number of people as its denominator: 1/37 says that there are 37
people, or a multiple, and most likely that one of them differs from the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.readers._state import State, Visited
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._survey import Survey

# Shares that are all multiples of one part as coarse as this were rounded, and tell little.
_COARSE = 20
_FINEST = 100_000


def leaf_shares(survey: Survey) -> Iterator[Finding]:
    """Trees without numbers of people whose leaves keep exact class shares."""
    for visited, state in survey.held_by("nodes"):
        shares = _shares(state)
        if shares is None:
            continue
        if _inner_left(state):
            yield _inner_finding(visited)
        telling = ((shares > 0) & (shares < 1)).any(axis=1)
        if not telling.any() or _rounded(shares[telling]):
            continue
        smallest = _denominators(shares[telling])
        yield Finding(
            "leaf-shares",
            visited,
            "refer",
            "Numbers of people were removed, but the class shares of leaves are exact fractions: "
            "their denominators tell how many people a leaf holds, up to a multiple, and so how "
            "few of them have the rarer class.",
            "Keep labels only if probabilities are not needed, or round the shares.",
            {
                "leaves": len(shares),
                "leaves_with_shares": int(telling.sum()),
                "largest_denominator": max(smallest, default=0),
            },
        )


def _inner_left(state: State) -> bool:
    """Whether nodes above the leaves still say something about the people who passed them."""
    nodes, values = state.get("nodes"), state.get("values")
    inner = nodes["left_child"] != -1
    said = values[inner]
    if said.size and np.isfinite(said).all() and not (said == said.ravel()[0]).all():
        return True
    if "impurity" not in nodes.dtype.names or nodes.dtype["impurity"].kind != "f":
        return False
    impurity = nodes["impurity"][inner]
    finite = impurity[np.isfinite(impurity)]
    return bool(finite.size and not (finite == finite[0]).all())


def _inner_finding(visited: Visited) -> Finding:
    return Finding(
        "inner-shares",
        visited,
        "fix",
        "Numbers of people were removed, but nodes above the leaves kept their class shares or "
        "impurities: how people divide at each split follows from the shares above and below it.",
        "Use glassleak sanitise, which drops them as well; predictions do not use them.",
    )


def _shares(state: State) -> npt.NDArray[np.float64] | None:
    """Class shares of the leaves of a tree without numbers of people, one line per leaf."""
    nodes, values = state.get("nodes"), state.get("values")
    if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
        return None
    names = nodes.dtype.names or ()
    if not {"left_child", "n_node_samples"} <= set(names) or values.dtype.kind != "f":
        return None
    if values.ndim != 3 or len(values) != len(nodes) or values.shape[1] != 1:
        return None
    if values.shape[2] < 2 or nodes["n_node_samples"].any():
        return None
    found: npt.NDArray[np.float64] = values[nodes["left_child"] == -1, 0, :].astype(np.float64)
    return found if np.isfinite(found).all() else None


def _rounded(shares: npt.NDArray[np.float64]) -> bool:
    for parts in range(2, _COARSE + 1):
        scaled = shares * parts
        if bool((np.abs(scaled - np.rint(scaled)) < 1e-9).all()):
            return True
    return False


def _denominators(shares: npt.NDArray[np.float64]) -> list[int]:
    distinct: list[Any] = np.unique(shares)[:10_000].tolist()
    found = []
    for share in distinct:
        near = Fraction(share).limit_denominator(_FINEST)
        if abs(float(near) - share) < 1e-12:
            found.append(near.denominator)
    return found
