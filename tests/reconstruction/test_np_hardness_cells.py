"""The attack on cells decides 3-SAT too: it must agree with brute force both ways."""

from __future__ import annotations

import numpy as np
import pytest
from generators.three_sat import Formula, assignment_of, forest_of, random_formula, schema_of

import glassleak as gl
from glassleak.errors import InconsistentModelError

# Every sign pattern over three variables: no assignment is left.
IMPOSSIBLE = Formula(3, tuple((a, 2 * b, 3 * c) for a in (1, -1) for b in (1, -1) for c in (1, -1)))


def formulas(n_variables: int, n_clauses: int, how_many: int, seed: int) -> list[Formula]:
    rng = np.random.default_rng([n_variables, n_clauses, seed])
    return [random_formula(n_variables, n_clauses, rng) for _ in range(how_many)]


@pytest.mark.parametrize(
    "formula",
    [*formulas(3, 5, 2, 0), *formulas(4, 6, 2, 0), *formulas(4, 8, 1, 0), IMPOSSIBLE],
)
def test_feasible_exactly_when_satisfiable(formula: Formula) -> None:
    forest, schema = forest_of(formula), schema_of(formula)
    if formula.satisfiable:
        rec = gl.reconstruct(forest, schema, budget_seconds=20)
        assert formula.holds(assignment_of(formula, rec.table.to_numpy()))
    else:
        with pytest.raises(InconsistentModelError, match=r"no table|no possible profile"):
            gl.reconstruct(forest, schema, budget_seconds=20)
