"""The table in the middle of the consistent ones."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.knowledge import Known, profile_space, published
from glassleak.reconstruction._cells_attack import attack
from glassleak.reconstruction._centre import central_table
from glassleak.reconstruction._distance import Distances
from glassleak.reconstruction._fill import draw_rows

SCHEMA = gl.Schema(
    [
        gl.Binary("yes"),
        gl.Categorical("kind", columns=["kind_a", "kind_b", "kind_c"]),
        gl.Ordinal("age", 0, 4),
        gl.Binary("no"),
    ]
)


def people(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "yes": (rng.random(n) < 0.7).astype(int),
            **{f"kind_{k}": (kind == i).astype(int) for i, k in enumerate("abc")},
            "age": rng.integers(0, 5, n),
        }
    )
    table["no"] = np.where(rng.random(n) < 0.8, table["yes"], 1 - table["yes"])
    return table, (table["age"] + kind + rng.integers(0, 2, n) > 3).astype(int).to_numpy()


def shallow(n: int = 24, seed: int = 0, trees: int = 4, depth: int = 2):
    X, y = people(n, seed)
    learner = RandomForestClassifier(trees, max_depth=depth, bootstrap=False, random_state=seed)
    return X, y, gl.read(learner.fit(X, y))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_pairs_cost_what_the_evaluation_says(seed, n):
    X, _ = people(60, 0)
    thresholds = {c: np.array([0.5]) for c in X.columns if c != "age"}
    space = profile_space(SCHEMA, tuple(X.columns), thresholds | {"age": np.arange(0.5, 4)})
    rng = np.random.default_rng(seed)
    sizes = [len(b) for b in space.blocks]
    one, other = (rng.integers(0, sizes, (n, len(sizes))).astype(np.int32) for _ in range(2))
    pair, cost = Distances(space).match(one, other)
    assert sorted(pair.tolist()) == list(range(n))
    frames = [pd.DataFrame(space.values(t), columns=list(X.columns)) for t in (one, other)]
    error = gl.reconstruction_error(*frames, SCHEMA)
    assert cost / n / X.shape[1] == pytest.approx(error, abs=1e-6)
    apart = [
        sum(d[one[i, b], other[j, b]] for b, d in enumerate(Distances(space).between))
        for i, j in enumerate(pair.tolist())
    ]
    assert sum(apart) == pytest.approx(cost, abs=1e-5)


def test_partners_are_weighed_by_distance():
    X, _ = people(5, 0)
    space = profile_space(SCHEMA, tuple(X.columns), {"age": np.arange(0.5, 4)})
    ages = next(b for b, block in enumerate(space.blocks) if block.attribute.name == "age")
    partners = np.zeros((2, 1, len(space.blocks)), dtype=np.int32)
    partners[:, 0, ages] = [1, 3]
    energy = Distances(space).to_partners(partners)[ages]
    np.testing.assert_allclose(energy[0], np.array([2, 1, 1, 1, 2]) / 4)


@pytest.mark.parametrize("seed", range(3))
def test_no_sample_is_more_central(seed):
    X, _, model = shallow(seed=seed)
    facts = published(model)
    found = attack(facts, SCHEMA, Known(), deadline=time.monotonic() + 60, seed=seed)
    x, profiles = central_table(
        found.cells, found.system, found.samples, found.pieces, time.monotonic() + 60
    )
    assert (found.system.matrix @ x == found.system.target).all()
    cell = np.repeat(found.system.cell, x)
    for p, part in enumerate(facts.parts):
        groups = part.assign(found.cells.space.values(profiles))
        assert (groups == found.cells.groups[cell, p]).all()
    rng = np.random.default_rng(5)
    tables = [
        found.cells.space.values(draw_rows(found.cells, np.repeat(found.system.cell, s), rng))
        for s in found.samples
    ]

    def spread(values):
        one = pd.DataFrame(values, columns=list(X.columns))
        return np.mean(
            [gl.reconstruction_error(one, pd.DataFrame(t, columns=list(X.columns)), SCHEMA)
             for t in tables]
        )  # fmt: skip

    middle = spread(found.cells.space.values(profiles))
    others = [spread(t) for t in tables[::4]]
    # A table is at distance 0 from itself, which flatters the samples.
    assert middle < np.mean(others) * len(tables) / (len(tables) - 1)


def test_out_of_time_it_is_the_first_sample():
    _, _, model = shallow()
    found = attack(published(model), SCHEMA, Known(), deadline=time.monotonic() + 60, seed=0)
    x, profiles = central_table(
        found.cells, found.system, found.samples, found.pieces, time.monotonic() - 1
    )
    np.testing.assert_array_equal(x, found.samples[0])
    assert len(profiles) == x.sum()


def test_the_centre_is_closer_to_the_truth_on_average():
    errors = []
    for seed in range(4):
        X, _, model = shallow(24, seed, trees=6)
        for central in (False, True):
            found = gl.reconstruct(model, SCHEMA, seed=seed, budget_seconds=20, central=central)
            assert found.exact
            errors.append(gl.reconstruction_error(X, found.table, SCHEMA))
    first, middle = np.mean(errors[::2]), np.mean(errors[1::2])
    assert middle < first


def test_progress_can_cancel_at_any_step():
    """Whatever step the callback raises at, the exception comes out and nothing keeps running."""
    _, _, model = shallow(24, 3, trees=8)
    steps: list[str] = []
    gl.reconstruct(model, SCHEMA, budget_seconds=5, progress=lambda step, _: steps.append(step))
    assert {"enumerating cells", "propagating", "sampling"} <= set(steps)
    for number in {*range(0, len(steps), max(1, len(steps) // 5))}:
        count = itertools.count()

        def stop(_step: str, _share: float, number=number, count=count) -> None:
            if next(count) == number:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            gl.reconstruct(model, SCHEMA, budget_seconds=5, progress=stop)
