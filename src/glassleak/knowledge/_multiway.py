"""A tree with one branch per level, as the yes/no tests every analysis reads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glassleak.models import MultiwayTree


def multiway_tests(
    tree: MultiwayTree,
) -> tuple[
    npt.NDArray[np.int32],
    npt.NDArray[np.float64],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
]:
    """Column, threshold, low, high and tree node reached (-1 at tests, -2 for nowhere).

    Runs of levels that lead to the same place are halved until one is left: a node with k
    branches costs at most 2k tests, however many levels its column has.
    """
    column, threshold, low, high, reached = [-1], [np.nan], [-1], [-1], [-1]
    children: dict[int, list[tuple[int, int]]] = {}
    for node in range(1, tree.n_nodes):
        children.setdefault(int(tree.parent[node]), []).append((int(tree.branch[node]), node))

    def new() -> int:
        for target, value in ((column, -1), (low, -1), (high, -1), (reached, -1)):
            target.append(value)
        threshold.append(np.nan)
        return len(column) - 1

    # Each task: the test to fill and the runs (first code, node) it has to choose from.
    tasks: list[tuple[int, list[tuple[int, int]], int]] = [(0, [(0, 0)], -1)]
    while tasks:
        test, runs, asked = tasks.pop()
        if len(runs) == 1:
            node = runs[0][1]
            if node < 0 or tree.feature[node] < 0:
                reached[test] = node
                continue
            asked = int(tree.feature[node])
            runs = _runs(sorted(children[node]), len(tree.levels[asked]))
            if len(runs) == 1:  # a column with one level decides nothing
                tasks.append((test, runs, asked))
                continue
        middle = len(runs) // 2
        column[test], threshold[test] = asked, runs[middle][0] - 0.5
        low[test], high[test] = new(), new()
        tasks += [(low[test], runs[:middle], asked), (high[test], runs[middle:], asked)]
    return (
        np.array(column, np.int32), np.array(threshold), np.array(low, np.int32),
        np.array(high, np.int32), np.array(reached, np.int32),
    )  # fmt: skip


def _runs(branches: list[tuple[int, int]], n_levels: int) -> list[tuple[int, int]]:
    """Where each run of codes with the same destination starts, and the destination."""
    runs: list[tuple[int, int]] = []
    expected = 0
    for code, node in branches:
        if code > expected:
            runs.append((expected, -2))
        runs.append((code, node))
        expected = code + 1
    if expected < n_levels:
        runs.append((expected, -2))
    return runs
