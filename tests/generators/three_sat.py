"""3-SAT as dataset reconstruction (Theorem 5.1 and Appendix A of the forest paper).

A formula becomes a forest with one class whose counts can be met by a training set exactly when
the formula is satisfiable.  Any solver of the reconstruction problem can be tested with it: the
answer is known by trying all assignments, and a found table contains one.

Columns: ``u1 … uV`` are the formula's variables, ``s1 … sL`` say in which clauses' trees a row
takes part.  Tree l splits on ``s_l`` first; those with 1 go through a perfect tree over the
clause's three variables, whose seven satisfying leaves hold one row each and whose eighth holds
none.  A last tree makes sure that exactly one row takes part in all of them: it satisfies every
clause.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from glassleak.models import Exact, Forest, Tree
from glassleak.schema import Binary, Schema

# A literal is +v or -v for variable v = 1, 2, …
Clause = tuple[int, int, int]


@dataclass(frozen=True)
class Formula:
    """A conjunction of clauses with three different variables each."""

    n_variables: int
    clauses: tuple[Clause, ...]

    def __post_init__(self) -> None:
        # With a single clause its six dummies reach the last tree's end too, which is meant for
        # one row only: the construction starts at two.
        if len(self.clauses) < 2:
            raise ValueError("the construction needs at least two clauses")
        for clause in self.clauses:
            variables = {abs(literal) for literal in clause}
            if len(variables) != 3 or not all(1 <= v <= self.n_variables for v in variables):
                raise ValueError(f"{clause} does not have three different variables")

    def holds(self, assignment: npt.ArrayLike) -> bool:
        """Whether `assignment` (zeros and ones, one per variable) satisfies every clause."""
        values = np.asarray(assignment)
        return all(
            any(values[abs(literal) - 1] == (literal > 0) for literal in clause)
            for clause in self.clauses
        )

    def solutions(self) -> Iterator[tuple[int, ...]]:
        """Every satisfying assignment, by trying all."""
        return filter(self.holds, itertools.product((0, 1), repeat=self.n_variables))

    @property
    def satisfiable(self) -> bool:
        return next(self.solutions(), None) is not None


def random_formula(n_variables: int, n_clauses: int, rng: np.random.Generator) -> Formula:
    """A formula of different clauses, each drawn uniformly."""
    possible = [
        (a * i, b * j, c * k)
        for i, j, k in itertools.combinations(range(1, n_variables + 1), 3)
        for a, b, c in itertools.product((1, -1), repeat=3)
    ]
    chosen = rng.choice(len(possible), size=n_clauses, replace=False)
    return Formula(n_variables, tuple(possible[i] for i in chosen))


def columns_of(formula: Formula) -> tuple[str, ...]:
    """The columns of the training set: variables, then one selector per clause."""
    variables = [f"u{i + 1}" for i in range(formula.n_variables)]
    return (*variables, *[f"s{i + 1}" for i in range(len(formula.clauses))])


def schema_of(formula: Formula) -> Schema:
    """Yes/no columns only."""
    return Schema([Binary(column) for column in columns_of(formula)])


def forest_of(formula: Formula) -> Forest:
    """The forest whose counts are feasible exactly when `formula` is satisfiable."""
    n_clauses = len(formula.clauses)
    trees = []
    for position, clause in enumerate(formula.clauses):
        grower = _Grower()
        root = grower.split(formula.n_variables + position)
        grower.leaf(6 * n_clauses - 6, root, "left")
        _perfect(grower, clause, (), root, "right")
        trees.append(grower.tree(columns_of(formula)))
    trees.append(_auxiliary(formula).tree(columns_of(formula)))
    return Forest(tuple(trees))


def table_of(formula: Formula, assignment: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The training set of Claim A.1: six dummies per clause, then the assignment's row."""
    n, n_clauses = formula.n_variables, len(formula.clauses)
    rows = []
    for position, clause in enumerate(formula.clauses):
        variables = [abs(literal) - 1 for literal in clause]
        taken = tuple(np.asarray(assignment)[variables].tolist())
        for values in itertools.product((0, 1), repeat=3):
            if values == taken or not _satisfies(clause, values):
                continue
            row = np.ones(n + n_clauses)
            row[n:] = 0
            row[n + position] = 1
            row[variables] = values
            rows.append(row)
    rows.append(np.concatenate([np.asarray(assignment, float), np.ones(n_clauses)]))
    return np.array(rows)


def assignment_of(formula: Formula, table: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The assignment in a reconstruction (Claim A.2): the row that takes part everywhere."""
    values = np.asarray(table)
    everywhere = np.flatnonzero(values[:, formula.n_variables :].all(axis=1))
    if len(everywhere) != 1:
        raise ValueError(f"{len(everywhere)} rows take part in all clauses, not 1")
    return values[everywhere[0], : formula.n_variables].astype(np.int64)


def _satisfies(clause: Clause, values: tuple[int, ...]) -> bool:
    return any(v == (literal > 0) for v, literal in zip(values, clause, strict=True))


def _perfect(
    grower: _Grower, clause: Clause, values: tuple[int, ...], parent: int, side: str
) -> None:
    if len(values) == 3:
        grower.leaf(int(_satisfies(clause, values)), parent, side)
        return
    node = grower.split(abs(clause[len(values)]) - 1, parent, side)
    _perfect(grower, clause, (*values, 0), node, "left")
    _perfect(grower, clause, (*values, 1), node, "right")


def _auxiliary(formula: Formula) -> _Grower:
    """A chain over the selectors: who takes part in the first clause, and in all of them."""
    n_clauses = len(formula.clauses)
    grower = _Grower()
    node = grower.split(formula.n_variables)
    grower.leaf(6 * n_clauses - 6, node, "left")
    for position in range(1, n_clauses):
        node = grower.split(formula.n_variables + position, node, "right")
        grower.leaf(6 if position == 1 else 0, node, "left")
    grower.leaf(1, node, "right")
    return grower


@dataclass
class _Grower:
    """A tree under construction; only leaves get counts, `tree` adds them up."""

    feature: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    children: dict[str, dict[int, int]] = field(default_factory=lambda: {"left": {}, "right": {}})

    def split(self, column: int, parent: int = -1, side: str = "") -> int:
        return self._node(column, 0, parent, side)

    def leaf(self, count: int, parent: int, side: str) -> int:
        return self._node(-1, count, parent, side)

    def _node(self, column: int, count: int, parent: int, side: str) -> int:
        node = len(self.feature)
        self.feature.append(column)
        self.counts.append(count)
        self.parents.append(parent)
        if side:
            self.children[side][parent] = node
        return node

    def tree(self, columns: tuple[str, ...]) -> Tree:
        totals = list(self.counts)
        for node in range(len(totals) - 1, 0, -1):  # children come after their parents
            totals[self.parents[node]] += totals[node]
        nodes = range(len(totals))
        feature = np.array(self.feature, dtype=np.int32)
        return Tree(
            columns=columns,
            classes=(0,),
            feature=feature,
            threshold=np.where(feature >= 0, 0.5, np.nan),
            left=np.array([self.children["left"].get(v, -1) for v in nodes], dtype=np.int32),
            right=np.array([self.children["right"].get(v, -1) for v in nodes], dtype=np.int32),
            counts=Exact(np.array(totals, dtype=np.int64)[:, None]),
        )
