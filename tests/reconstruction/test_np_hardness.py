"""Reconstruction answers 3-SAT: feasible exactly when the formula is, with the answer inside."""

from __future__ import annotations

import numpy as np
import pytest
from generators.three_sat import (
    Formula,
    assignment_of,
    columns_of,
    forest_of,
    random_formula,
    schema_of,
    table_of,
)

from glassleak.models import Exact
from glassleak.reconstruction.published import solve_rows_cp, solve_rows_milp

# Formula (1) of the paper's Appendix A.
PAPER = Formula(4, ((1, -2, -3), (1, 2, 4), (-2, -3, -4)))
# Every sign pattern over three variables: no assignment is left.
IMPOSSIBLE = Formula(3, tuple((a, 2 * b, 3 * c) for a in (1, -1) for b in (1, -1) for c in (1, -1)))


def formulas(n_variables: int, n_clauses: int, satisfiable: bool, how_many: int) -> list[Formula]:
    """Random formulas of which it is known whether they can be satisfied."""
    rng = np.random.default_rng([n_variables, n_clauses])
    found: list[Formula] = []
    while len(found) < how_many:
        formula = random_formula(n_variables, n_clauses, rng)
        if formula.satisfiable == satisfiable:
            found.append(formula)
    return found


def test_the_forest_is_the_papers() -> None:
    forest = forest_of(PAPER)
    assert len(forest) == 4
    assert forest.n_rows == 19
    assert columns_of(PAPER) == ("u1", "u2", "u3", "u4", "s1", "s2", "s3")
    by_tree = []
    for tree in forest:
        assert isinstance(tree.counts, Exact)
        by_tree.append(tree.counts.totals[tree.leaves].tolist())
    # Figure 3: only 011, 000 and 111 break the three clauses.
    assert by_tree[0] == [12, 1, 1, 1, 0, 1, 1, 1, 1]
    assert by_tree[1] == [12, 0, 1, 1, 1, 1, 1, 1, 1]
    assert by_tree[2] == [12, 1, 1, 1, 1, 1, 1, 1, 0]
    assert by_tree[3] == [12, 6, 0, 1]


def test_a_solution_makes_a_training_set() -> None:
    """Claim A.1, for every solution of the paper's formula."""
    solutions = list(PAPER.solutions())
    assert (1, 0, 0, 0) in solutions
    assert len(solutions) < 16
    forest = forest_of(PAPER)
    for solution in solutions:
        table = table_of(PAPER, solution)
        assert len(table) == forest.n_rows
        for tree in forest:
            assert isinstance(tree.counts, Exact)
            reached = np.bincount(tree.apply(table), minlength=tree.n_nodes)
            np.testing.assert_array_equal(reached[tree.leaves], tree.counts.totals[tree.leaves])
        assert tuple(assignment_of(PAPER, table)) == solution


@pytest.mark.parametrize(
    "formula",
    [PAPER, *formulas(4, 8, True, 3), *formulas(5, 12, True, 2), *formulas(6, 14, True, 2)],
)
def test_a_training_set_holds_a_solution(formula: Formula) -> None:
    """Claim A.2: what the published solver finds, read as an assignment, satisfies the formula."""
    solution = solve_rows_cp(forest_of(formula), schema_of(formula), budget_seconds=120)
    assert solution.status == "found"
    assert formula.holds(assignment_of(formula, solution.table))


@pytest.mark.parametrize(
    "formula", [IMPOSSIBLE, *formulas(4, 16, False, 2), *formulas(5, 22, False, 1)]
)
def test_without_a_solution_no_training_set(formula: Formula) -> None:
    assert not formula.satisfiable
    solution = solve_rows_cp(forest_of(formula), schema_of(formula), budget_seconds=120)
    assert solution.status == "infeasible"


def test_the_linear_program_agrees() -> None:
    solution = solve_rows_milp(forest_of(PAPER), schema_of(PAPER), budget_seconds=120)
    assert PAPER.holds(assignment_of(PAPER, solution.table))


def test_formulas_outside_the_construction_are_refused() -> None:
    with pytest.raises(ValueError, match="two clauses"):
        Formula(3, ((1, 2, 3),))
    with pytest.raises(ValueError, match="three different"):
        Formula(3, ((1, 2, 3), (1, -1, 2)))
    with pytest.raises(ValueError, match="three different"):
        Formula(3, ((1, 2, 3), (1, 2, 4)))
    with pytest.raises(ValueError, match="not 1"):
        assignment_of(PAPER, np.zeros((19, 7)))
