"""All integer tables that fit a model, counted out one by one: the slow truth bounds must meet."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
from growing import impurity, nodes_by_hand


def spreads(n: int, most: list[int]) -> Iterator[tuple[int, ...]]:
    """All ways to spread n over classes with at most so many each."""
    if len(most) == 1:
        if n <= most[0]:
            yield (n,)
        return
    for first in range(min(n, most[0]) + 1):
        for rest in spreads(n - first, most[1:]):
            yield (first, *rest)


def leaf_tables(people, fits: Callable[[np.ndarray], bool], n_classes: int) -> list[np.ndarray]:
    """All tables of the people of one leaf whose class totals fit."""
    options = [list(spreads(int(n), [int(n)] * n_classes)) for n in people]
    tables = (np.array(rows) for rows in itertools.product(*options))
    return [table for table in tables if fits(table.sum(axis=0))]


def tables(people, leaf, counts, limit: int = 20_000) -> Iterator[np.ndarray]:
    """All tables with these class counts in every leaf; stops with an error beyond `limit`."""
    parts = []
    for one, own in enumerate(counts):
        inside = np.flatnonzero(leaf == one)
        found = leaf_tables(people[inside], lambda k, own=own: (k == own).all(), len(own))
        parts.append((inside, found))
    number = np.prod([float(len(found)) for _, found in parts])
    if number > limit:
        raise OverflowError
    for rows in itertools.product(*[found for _, found in parts]):
        table = np.zeros((len(people), counts.shape[1]), dtype=np.int64)
        for (inside, _), own in zip(parts, rows, strict=True):
            table[inside] = own
        yield table


def best_splits(model, table, of_line, measure: str) -> Callable[[np.ndarray], bool]:
    """Whether all chosen splits would be best ones if the QIs had these class counts."""
    nodes = list(nodes_by_hand(model, table))
    lines = np.bincount(of_line)

    def masses(rows, shares):
        people = np.bincount(of_line[rows], minlength=len(lines))
        # Lines of one QI are alike, and always together in a group.
        assert set(people.tolist()) <= {0, *lines.tolist()}
        return shares[people > 0].sum(axis=0)

    def holds(shares: np.ndarray) -> bool:
        base = "gini" if measure == "gini" else "entropy"
        for _, rows, chosen, others in nodes:
            own = sum(impurity(masses(g, shares), base) for g in chosen)
            whole, size = impurity(masses(rows, shares), base), len(rows)
            for groups in others:
                found = sum(impurity(masses(g, shares), base) for g in groups)
                least = own
                if measure == "gain_ratio":
                    least = whole - (whole - own) / bits(chosen, size) * bits(groups, size)
                if found < least - 1e-10 * size:
                    return False
        return True

    return holds


def bits(groups, size) -> float:
    shares = np.array([len(g) for g in groups]) / size
    return float(-(size * shares * np.log(shares)).sum())


def true_table(model, people, truth, order=None) -> np.ndarray:
    """QIs and classes as they really were."""
    position = {label: i for i, label in enumerate(model.classes)}
    out = np.zeros((len(people), len(model.classes)), dtype=np.int64)
    np.add.at(out, (people.of_line, [position[t] for t in np.asarray(truth).tolist()]), 1)
    return out if order is None else out[order]
