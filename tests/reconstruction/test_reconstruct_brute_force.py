"""Whatever the model: status, certificate, bounds and confidence against all consistent tables."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from ortools.sat.python import cp_model
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import glassleak as gl
from glassleak.models import Forest

MOST_TABLES = 20_000
ATTRIBUTES = (
    gl.Binary("yes"),
    gl.Binary("again"),
    gl.Categorical("one of", columns=["a", "b", "c"]),
    gl.Categorical("or none", columns=["d", "e"], absent=True),
    gl.Ordinal("grade", 0, 3),
    gl.Ordinal("gap", 0, 1, missing=True),
    gl.Numeric("dose", 0, 1, resolution=0.5),
)
LEARNERS = (
    lambda seed: DecisionTreeClassifier(random_state=seed),
    lambda seed: ExtraTreeClassifier(random_state=seed),
    lambda seed: DecisionTreeClassifier(min_samples_leaf=2, random_state=seed),
    lambda seed: RandomForestClassifier(
        4, max_depth=2, max_features=1, bootstrap=False, random_state=seed
    ),
    lambda seed: RandomForestClassifier(6, bootstrap=False, random_state=seed),
    lambda seed: ExtraTreesClassifier(6, random_state=seed),
)


def profiles_of(schema: gl.Schema) -> pd.DataFrame:
    levels = [attribute.level_values() for attribute in schema]
    rows = [np.concatenate(choice) for choice in itertools.product(*levels)]
    return pd.DataFrame(rows, columns=list(schema.columns))


class Listed(cp_model.CpSolverSolutionCallback):
    def __init__(self, x):
        super().__init__()
        self.x, self.found = x, []

    def on_solution_callback(self):
        self.found.append([self.value(v) for v in self.x])
        if len(self.found) >= MOST_TABLES:
            self.stop_search()


def all_tables(model, profiles: pd.DataFrame) -> np.ndarray:
    """Every histogram (tables, profiles, classes) that gives every leaf its counts."""
    program, n_classes = cp_model.CpModel(), len(model.classes)
    shape = (len(profiles), n_classes)
    x = np.array(
        [program.new_int_var(0, 10, "") for _ in range(shape[0] * n_classes)], dtype=object
    ).reshape(shape)
    for tree in model.trees if isinstance(model, Forest) else (model,):
        reached = tree.apply(profiles.to_numpy(float))
        for leaf, label in itertools.product(tree.leaves.tolist(), range(n_classes)):
            inside = x[reached == leaf, label].tolist()
            program.add(sum(inside) == int(tree.counts.values[leaf, label]))
    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    listed = Listed(x.reshape(-1).tolist())
    solver.solve(program, listed)
    return np.array(listed.found).reshape(-1, *shape)


def histogram(table, labels, profiles, classes) -> np.ndarray:
    place = {tuple(row): i for i, row in enumerate(profiles.fillna(-9).to_numpy().tolist())}
    out = np.zeros((len(profiles), len(classes)), dtype=int)
    for row, label in zip(table.fillna(-9).to_numpy(float).tolist(), labels, strict=True):
        out[place[tuple(row)], list(classes).index(label)] += 1
    return out


@pytest.mark.parametrize("seed", range(24))
def test_everything_claimed_is_true(seed):
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(ATTRIBUTES))[: rng.integers(1, 4)]
    schema = gl.Schema([ATTRIBUTES[i] for i in chosen])
    profiles = profiles_of(schema)
    n = int(rng.integers(1, 9))
    X = profiles.iloc[rng.integers(0, len(profiles), n)].reset_index(drop=True)
    y = rng.choice(["a", "b", "c"][: rng.integers(1, 4)], n)
    model = gl.read(LEARNERS[seed % len(LEARNERS)](seed).fit(X, y))
    tables = all_tables(model, profiles)
    if len(tables) >= MOST_TABLES:
        pytest.skip("too many tables to list")
    truth = histogram(X, y, profiles, model.classes)
    assert (tables == truth).all(axis=(1, 2)).any()

    found = gl.reconstruct(model, schema, budget_seconds=20, seed=seed, all_bounds=True)
    own = histogram(found.table, found.labels, profiles, model.classes)
    assert (tables == own).all(axis=(1, 2)).any()
    least, most = tables.min(axis=0), tables.max(axis=0)
    certificate = found.certificate
    assert certificate.unique is (len(tables) == 1)
    assert found.status == ("unique" if len(tables) == 1 else "consistent")
    assert certificate.complete
    assert certificate.certain_rows == least.sum() == (found.confidence == 1).sum()
    bounds = certificate.bounds[certificate.bounds["profiles"] == 1]
    assert bounds["exact"].all()
    labels = bounds["class"].tolist()
    for row, label, low, high in zip(
        bounds[list(profiles.columns)].fillna(-9).to_numpy(float).tolist(), labels,
        bounds["minimum"], bounds["maximum"], strict=True,
    ):  # fmt: skip
        place = profiles.fillna(-9).to_numpy().tolist().index(row)
        at = (place, list(model.classes).index(label))
        assert (low, high) == (least[at], most[at])


def test_columns_that_repeat_or_never_vary_are_left_open():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (12, 3)), columns=list("abc"))
    X["copy"], X["never"] = X["a"], 1
    y = X["a"] ^ X["b"]
    model = gl.read(DecisionTreeClassifier(random_state=0).fit(X, y))
    schema = gl.Schema([gl.Binary(c) for c in X])
    found = gl.reconstruct(model, schema, budget_seconds=20)
    assert found.status == "consistent"
    assert found.certificate.certain_rows == 0
    assert found.certificate.certain_in_part == len(X)
    assert (found.certificate.bounds["profiles"] > 1).all()
