"""The random walk: its bookkeeping, and that it visits tables as often as it should."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import glassleak as gl
from glassleak.reconstruction.bagged._evidence import Evidence, evidence_of
from glassleak.reconstruction.bagged._leaf_terms import leaves_of, memory_for
from glassleak.reconstruction.bagged._moves import (
    Places,
    Table,
    exchange,
    places_of,
    redraw,
    redraw_some,
    total_value,
)
from glassleak.reconstruction.bagged._profiles import enumerate_profiles


def small(n_rows: int, n_columns: int, n_trees: int, **settings: object) -> tuple[Evidence, Places]:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (n_rows, n_columns))
    y = np.concatenate([[0, 1], rng.integers(0, 2, n_rows - 2)])
    forest = RandomForestClassifier(n_trees, random_state=1, **settings).fit(X, y)
    evidence = evidence_of(gl.read(forest))
    schema = gl.Schema([gl.Binary(c) for c in evidence.forest.columns])
    cuts = {c: np.array([0.5]) for c in evidence.forest.columns}
    profiles = enumerate_profiles(evidence, schema, cuts)
    numbers = np.arange(2 * len(profiles), dtype=np.int64)
    return evidence, places_of(
        profiles.leaf, profiles.sizes, profiles.strides, 2, evidence.n_leaves, numbers
    )


def held_by(evidence: Evidence, places: Places, at: np.ndarray) -> np.ndarray:
    held = np.zeros((evidence.n_leaves, 2), dtype=np.int32)
    np.add.at(held, (places.leaf[at], places.label[at][:, None]), 1)
    return held


def table_of(evidence: Evidence, places: Places, at: np.ndarray) -> Table:
    everything = np.ones((1, len(places.label)), dtype=bool)
    return Table(at, held_by(evidence, places, at), np.zeros(len(at), np.int32), everything)


@pytest.mark.parametrize("depth", [2, None])
def test_counts_stay_those_of_the_rows(depth: int | None) -> None:
    evidence, places = small(30, 5, 6, max_depth=depth)
    leaves = leaves_of(evidence, 6.0)
    memory = memory_for(leaves)
    rng = np.random.default_rng(0)
    table = table_of(evidence, places, rng.integers(0, len(places.label), 30))
    prior = np.zeros(len(places.label))
    for k in range(4):
        rows = rng.permutation(30)
        moved = redraw(leaves, memory, places, prior, table, rows, 0.5, k)
        swapped = exchange(leaves, memory, places, prior, table, rows, 0.5, 500, 10**6, k)
        assert moved > 0
        assert swapped > 0
        assert np.array_equal(table.held, held_by(evidence, places, table.at))


@pytest.mark.parametrize("moves", ["redraw", "redraw some", "exchange"])
def test_tables_are_visited_in_proportion_to_their_probability(moves: str) -> None:
    evidence, places = small(3, 2, 2)
    leaves = leaves_of(evidence, 6.0)
    memory = memory_for(leaves)
    prior = 0.3 * np.cos(np.arange(len(places.label)))
    start = np.array([0, 3, 6])
    probability: dict[tuple[int, ...], float] = {}
    for at in itertools.product(range(len(places.label)), repeat=3):
        if moves == "exchange" and not same_margins(places, at, start):
            continue
        held = held_by(evidence, places, np.array(at))
        key = tuple(sorted(at))
        weight = np.exp(total_value(leaves, memory, held) + prior[list(at)].sum())
        probability[key] = probability.get(key, 0.0) + weight
    total = sum(probability.values())
    table = table_of(evidence, places, start.copy())
    seen = dict.fromkeys(probability, 0)
    rows = np.arange(3)
    n = 6000
    for k in range(n):
        if moves == "redraw":
            redraw(leaves, memory, places, prior, table, rows, 1.0, k)
        elif moves == "redraw some":
            chance = np.cumsum(1.0 + np.arange(len(places.label)) % 3)
            redraw_some(leaves, memory, places, prior, table, rows, chance, 4, 1.0, k)
        else:
            exchange(leaves, memory, places, prior, table, rows, 1.0, 12, 10**6, k)
        seen[tuple(sorted(table.at.tolist()))] += 1
    for key, weight in probability.items():
        expected = weight / total
        assert seen[key] / n == pytest.approx(expected, abs=5 * np.sqrt(expected / n) + 0.004)


def same_margins(places: Places, at: tuple[int, ...], start: np.ndarray) -> bool:
    """Exchanges keep every attribute's levels, only not who has them."""
    return all(
        sorted(places.levels[list(at), k]) == sorted(places.levels[start, k])
        for k in range(places.levels.shape[1])
    )


def test_rows_stay_where_they_are_allowed() -> None:
    evidence, places = small(20, 4, 4)
    leaves = leaves_of(evidence, 6.0)
    memory = memory_for(leaves)
    rng = np.random.default_rng(1)
    # The first group has the first attribute 0, the second has it 1.
    allowed = np.stack([places.levels[:, 0] == 0, places.levels[:, 0] == 1])
    group = np.repeat([0, 1], 10).astype(np.int32)
    at = np.array([rng.choice(np.flatnonzero(allowed[g])) for g in group])
    table = Table(at, held_by(evidence, places, at), group, allowed)
    for k in range(5):
        redraw(leaves, memory, places, np.zeros(len(places.label)), table, np.arange(20), 0.3, k)
        exchange(
            leaves, memory, places, np.zeros(len(places.label)), table, np.arange(20), 0.3, 400,
            10**6, k,
        )  # fmt: skip
    assert allowed[group, table.at].all()
