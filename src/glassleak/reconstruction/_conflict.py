"""Why no table fits: a minimal set of published counts that contradict each other.

Leaves that publish rows are equations; leaves that publish none rule cells out.  First a minimal
set of equations is found while everything that is ruled out stays so.  Then, over all cells, the
leaves without rows that this needs.  Together they are minimal: an equation can only become less
necessary when more is ruled out, not when less is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from glassleak.errors import BudgetExhaustedError, InconsistentModelError, ModelTooLargeError
from glassleak.knowledge import Published, Space, System, enumerate_cells
from glassleak.knowledge._system import where

IntArray = npt.NDArray[np.int64]
_LISTED = 8
_TINY = 1e-9
# All cells are needed to see what leaves without rows rule out.
_MOST_CELLS = 300_000


def explain_conflict(
    facts: Published, space: Space, system: System, deadline: float
) -> InconsistentModelError:
    """The error to raise: it names the leaves at fault.

    A subset of the equations is found that no histogram satisfies and every proper subset of which
    some histogram does (QuickXplain), and then the leaves without rows that this needs, if all
    cells of `space` can be listed in time.  What propagation has settled plays no part: it rests on
    equations that may themselves be at fault.
    """
    matrix = sp.csr_array(system.matrix)
    top = np.full(system.n_unknowns, int(system.target.max(initial=0)))
    oracle = _Oracle(matrix, system.target, system.lower, top, deadline)
    candidates = list(range(len(system.target)))
    if not oracle.integral:
        # The dual values of the relaxation point out a few equations that suffice.
        few = _farkas(matrix, system.target, system.lower, top, deadline)
        if few and not oracle.feasible(few):
            candidates = few
    core = quick_explain(oracle.feasible, candidates)
    names, counts = system.names[core], system.target[core]
    if not oracle.decided:
        return _error(facts, names, counts, None, "not yet minimal")
    empty = _empty_leaves(facts, space, names, counts, deadline)
    return _error(facts, names, counts, empty, "minimal")


def _farkas(
    matrix: sp.csr_array, target: IntArray, lower: IntArray, upper: IntArray, deadline: float
) -> list[int]:
    """Equations that carry the proof that the relaxation is empty; none if there is no proof."""
    n_equations, size = matrix.shape
    slack = sp.identity(n_equations, format="csr")
    ends = [(lower, upper), (np.zeros(2 * n_equations), np.full(2 * n_equations, np.inf))]
    bounds: Any = np.vstack([np.column_stack(pair) for pair in ends])
    options: Any = {"time_limit": max(0.1, deadline - time.monotonic())}
    result = linprog(
        np.concatenate([np.zeros(size), np.ones(2 * n_equations)]),
        A_eq=sp.hstack([matrix, slack, -slack], format="csc"),
        b_eq=target,
        bounds=bounds,
        method="highs",
        options=options,
    )
    if result.status != 0:
        return []
    return np.flatnonzero(np.abs(result.eqlin.marginals) > _TINY).tolist()


def explain_unreachable(
    facts: Published, space: Space, error: InconsistentModelError, deadline: float
) -> InconsistentModelError:
    """Name the leaves without rows that leave no possible profile for a leaf with rows."""
    try:
        everything = _Everything(facts, space, deadline)
    except (ModelTooLargeError, BudgetExhaustedError):
        return error
    for p, part in enumerate(facts.parts):
        for group, label in np.argwhere(part.counts > 0).tolist():
            name = np.array([p, group, label if part.by_class else -1])
            if not everything.possible[everything.inside(name)].any():
                count = np.array([part.counts[group, label]])
                empty = _empty_leaves(facts, space, name[None, :], count, deadline)
                return error if not empty else _error(facts, name[None], count, empty, "minimal")
    return error


def _error(
    facts: Published,
    names: IntArray,
    counts: IntArray,
    empty: list[IntArray] | None,
    kind: str,
) -> InconsistentModelError:
    stated = [(name, int(count)) for name, count in zip(names, counts, strict=True)]
    leaves = [_named(facts, *one) for one in stated + [(name, 0) for name in empty or ()]]
    shown = "; ".join(leaves[:_LISTED])
    more = f"; and {len(leaves) - _LISTED} more" if len(leaves) > _LISTED else ""
    given = ", given all leaves that publish no rows" if empty is None else ""
    error = InconsistentModelError(
        f"no table has these counts: {shown}{more} ({kind} conflicting set{given})"
    )
    error.add_note("the model was altered, its counts are not exact, or the schema is too narrow")
    return error


def _named(facts: Published, name: npt.NDArray[np.int64], count: int) -> str:
    of = f" of class {facts.classes[int(name[2])]!r}" if name[2] >= 0 else ""
    return f"{where(facts, name)} ({count} rows{of})"


def _empty_leaves(
    facts: Published, space: Space, names: IntArray, counts: IntArray, deadline: float
) -> list[IntArray] | None:
    """A minimal set of leaves without rows that contradicts the given equations.

    ``None`` if that could not be worked out.
    """
    try:
        everything = _Everything(facts, space, deadline)
    except (ModelTooLargeError, BudgetExhaustedError):
        return None
    member = np.column_stack([everything.inside(name) for name in names])
    patterns, pattern = np.unique(member, axis=0, return_inverse=True)
    pattern = pattern.reshape(-1)
    late = False

    def feasible(zeros: list[int]) -> bool:
        nonlocal late
        if time.monotonic() > deadline:
            late = True
            return True
        seen = np.unique(pattern[~everything.hit(zeros)])
        matrix = sp.csr_array(patterns[seen].T.astype(np.int64))
        top = np.full(len(seen), int(counts.max(initial=0)))
        oracle = _Oracle(matrix, counts, np.zeros(len(seen), np.int64), top, deadline)
        fits = oracle.solvable()
        late |= not oracle.decided
        return fits

    zeros = list(range(len(everything.zeros)))
    if feasible(zeros):
        return None  # something else than the counts is involved, such as rows known besides
    if not feasible([]):
        return []
    core = quick_explain(feasible, zeros)
    return None if late else [everything.zeros[i] for i in core]


class _Everything:
    """All (cell, class) pairs, and which of them each leaf without rows rules out."""

    def __init__(self, facts: Published, space: Space, deadline: float) -> None:
        # Unknown counts rule nothing out.
        parts = tuple(replace(part, counts=np.full_like(part.counts, -1)) for part in facts.parts)
        blank = replace(facts, parts=parts, class_totals=np.full_like(facts.class_totals, -1))
        cells = enumerate_cells(blank, space, deadline=deadline, max_boxes=_MOST_CELLS)
        n_classes = len(facts.classes)
        self.groups = np.repeat(cells.groups, n_classes, axis=0)
        self.label = np.tile(np.arange(n_classes), len(cells))
        self.zeros = [
            np.array([p, group, label if part.by_class else -1])
            for p, part in enumerate(facts.parts)
            for group, label in np.argwhere(part.counts == 0).tolist()
        ]
        self.possible = ~self.hit(list(range(len(self.zeros))))

    def inside(self, name: IntArray) -> npt.NDArray[np.bool_]:
        """The pairs that an equation counts."""
        own: npt.NDArray[np.bool_] = self.groups[:, name[0]] == name[1]
        return own & (self.label == name[2]) if name[2] >= 0 else own

    def hit(self, zeros: list[int]) -> npt.NDArray[np.bool_]:
        """The pairs that some of these leaves rule out."""
        out = np.zeros(len(self.label), dtype=bool)
        by_part: dict[tuple[int, int], list[int]] = {}
        for i in zeros:
            part, group, label = self.zeros[i].tolist()
            by_part.setdefault((part, label), []).append(group)
        for (part, label), groups in by_part.items():
            own = np.isin(self.groups[:, part], groups)
            out |= own & (self.label == label) if label >= 0 else own
        return out


class _Oracle:
    """Is there a histogram that satisfies these equations?"""

    def __init__(
        self, matrix: sp.csr_array, target: IntArray, lower: IntArray, upper: IntArray,
        deadline: float,
    ) -> None:  # fmt: skip
        self.matrix, self.target, self.bounds = matrix, target, Bounds(lower, upper)
        self.deadline, self.decided = deadline, True
        # Contradictions of counts nearly always show in the relaxation, which is far cheaper.
        self.integral = self._feasible(np.arange(len(target)), integral=False)

    def solvable(self) -> bool:
        """Whether all equations have a solution together."""
        return self.integral and self.feasible(list(range(len(self.target))))

    def feasible(self, rows: list[int]) -> bool:
        return self._feasible(np.array(rows, dtype=np.int64), integral=self.integral)

    def _feasible(self, rows: IntArray, *, integral: bool) -> bool:
        if not len(rows):
            return True
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.decided = False
            return True
        picked = sp.csr_array(self.matrix[rows])
        size = picked.shape[1]
        if not size:
            return not self.target[rows].any()
        result = milp(
            np.zeros(size),
            constraints=LinearConstraint(picked, self.target[rows], self.target[rows]),
            bounds=self.bounds,
            integrality=np.full(size, int(integral)),
            options={"time_limit": left},
        )
        if result.status not in (0, 2):
            self.decided = False
        return bool(result.status != 2)


def quick_explain(feasible: Callable[[list[int]], bool], items: list[int]) -> list[int]:
    """A minimal infeasible subset (Junker 2004), in O(k log(n / k)) questions."""

    def search(background: list[int], changed: bool, candidates: list[int]) -> list[int]:
        if changed and not feasible(background):
            return []
        if len(candidates) == 1:
            return candidates
        half = len(candidates) // 2
        one, other = candidates[:half], candidates[half:]
        second = search(background + one, bool(one), other)
        first = search(background + second, bool(second), one)
        return first + second

    return sorted(search([], False, items)) if items else []
