"""What `gl.uncertainty` returns and refuses, for one tree or rule list."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_examples import SCHEMA_I, SCHEMA_III, TABLE_I, figure_1, rule_list_1
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.errors import InconsistentModelError, SchemaError, UnsupportedModelError
from glassleak.models import Condition, Exact, Forest, Missing, Rule, RuleList, Tree
from glassleak.uncertainty._measures import columns_apart


def stump(counts: object, **changes: object) -> Tree:
    fields: dict[str, object] = {
        "columns": ("a1", "a2"), "classes": (0, 1), "feature": [0, -1, -1],
        "threshold": [0.5, np.nan, np.nan], "left": [1, -1, -1], "right": [2, -1, -1],
        "counts": counts,
    }  # fmt: skip
    return Tree(**(fields | changes))  # type: ignore[arg-type]


BOTH = gl.Schema([gl.Binary("a1"), gl.Binary("a2")])


def test_exposure_and_shares_add_up() -> None:
    u = gl.uncertainty(figure_1(), SCHEMA_I)
    assert u.exposure is not None
    assert u.per_leaf is not None
    assert u.exposure["people"].tolist() == [1, 1, 2]
    assert u.exposure["at_most"].tolist() == [0.25, 0.5, 1.0]
    assert u.exposure["bits"].is_monotonic_increasing
    weighted = (u.exposure["share"] * u.exposure["people"]).sum() / u.n_rows
    assert weighted == pytest.approx(u.dist_g)  # "averaging the curves of Figure 4"
    assert u.bits_per_row == pytest.approx(u.bits / 4)


def test_groups_of_people() -> None:
    data = TABLE_I.assign(town=["x", "x", "y", "y"])
    u = gl.uncertainty(figure_1(), SCHEMA_I, data=data, by="town")
    assert u.by_group is not None
    assert u.by_group["value"].tolist() == ["y", "x"]
    assert u.by_group["bits"].tolist() == pytest.approx([(3 + np.log2(12)) / 2, 4])
    assert u.by_group["least_bits"].tolist() == [3, 4]
    assert u.notes == ()
    every = gl.uncertainty(figure_1(), SCHEMA_I, data=data).by_group
    assert every is not None
    assert set(every["column"]) == set(data.columns)
    other = gl.uncertainty(figure_1(), SCHEMA_I, data=data[:3], by="town")
    assert any("not the training table" in note for note in other.notes)
    with pytest.raises(SchemaError, match="no column 'city'"):
        gl.uncertainty(figure_1(), SCHEMA_I, data=data, by="city")
    with pytest.raises(SchemaError, match="lacks column 'a3'"):
        gl.uncertainty(figure_1(), SCHEMA_I, data=data[["a1", "a2"]])


def test_a_tree_that_says_everything_leaves_nothing() -> None:
    table = pd.DataFrame([[0, 0], [0, 1], [1, 0], [1, 1]], columns=["a1", "a2"])
    fitted = DecisionTreeClassifier().fit(table, [0, 1, 1, 0])
    u = gl.uncertainty(gl.read(fitted), BOTH)
    assert (u.bits, u.dist_g, u.dist) == (0, 0, 0)
    assert u.exposure is not None
    assert u.exposure["people"].tolist() == [4]


def test_a_tree_that_says_nothing_leaves_everything() -> None:
    tree = Tree(("a1", "a2"), (0, 1), [-1], [np.nan], [-1], [-1], Exact(np.array([[3, 2]])))
    u = gl.uncertainty(tree, BOTH)
    assert (u.bits, u.dist_g, u.dist) == (10, 1, 1)
    assert u.unordered is not None
    assert u.unordered.share == 1
    assert u.unordered_by_class is not None
    assert u.unordered_by_class.share == 1


def test_attributes_with_a_single_value_carry_no_uncertainty() -> None:
    schema = gl.Schema([gl.Ordinal("a1", 0, 0), gl.Binary("a2")])
    u = gl.uncertainty(stump(Exact(np.array([[2, 1], [2, 1], [0, 0]]))), schema)
    assert (u.bits, u.dist, u.dist_g) == (3, 1, 1)
    nothing = gl.Schema([gl.Ordinal("a1", 0, 0), gl.Ordinal("a2", 1, 1)])
    u = gl.uncertainty(stump(Exact(np.array([[2, 1], [2, 1], [0, 0]]))), nothing)
    assert (u.bits, u.bits_uninformed, u.dist, u.dist_g) == (0, 0, 0, 0)


def test_an_empty_training_set() -> None:
    u = gl.uncertainty(stump(Exact(np.zeros((3, 2), dtype=np.int64))), BOTH)
    assert (u.n_rows, u.bits, u.dist, u.dist_g, u.bits_per_row) == (0, 0, 0, 0, 0)


def test_rows_where_no_profile_is_possible() -> None:
    schema = gl.Schema([gl.Ordinal("a1", 0, 0), gl.Binary("a2")])
    with pytest.raises(InconsistentModelError, match="leaf 2: 2 rows"):
        gl.uncertainty(stump(Exact(np.array([[3, 2], [2, 1], [1, 1]]))), schema)


def test_counts_that_are_not_there() -> None:
    with pytest.raises(UnsupportedModelError, match="how many rows"):
        gl.uncertainty(stump(Missing("the library does not keep them")), BOTH)


def test_totals_without_classes_are_enough() -> None:
    u = gl.uncertainty(stump(Missing("boosting"), rows=[5, 2, 3]), BOTH)
    assert u.bits == 5
    assert u.unordered is not None
    assert u.unordered_by_class is None
    assert u.dataset is not None
    assert u.dataset.sample(1)[0].labels is None
    assert [line.label for line in u.dataset.lines] == [None, None]


def test_a_tree_of_a_bagged_forest_speaks_about_the_people_drawn() -> None:
    counts = Exact(np.array([[4, 3], [2, 2], [2, 1]]))
    u = gl.uncertainty(stump(counts, distinct_rows=[5, 3, 2]), BOTH)
    assert (u.n_rows, u.bits) == (5, 5)
    assert u.unordered_by_class is None
    assert "drawn" in u.notes[0]


def test_a_forest_of_one_tree_is_that_tree() -> None:
    forest = Forest((figure_1(),))
    assert gl.uncertainty(forest, SCHEMA_I).dist_g == gl.uncertainty(figure_1(), SCHEMA_I).dist_g
    assert gl.uncertainty([figure_1()], SCHEMA_I).dataset is not None


def test_no_schema_is_inferred_and_said() -> None:
    u = gl.uncertainty(rule_list_1())
    assert u.n_profiles == 8
    assert "inferred" in u.notes[0]


def test_continuous_attributes_ask_for_a_resolution() -> None:
    schema = gl.Schema([gl.Numeric("a1", 0, 1), gl.Binary("a2")])
    with pytest.raises(SchemaError, match="resolution"):
        gl.uncertainty(stump(Exact(np.array([[3, 2], [2, 1], [1, 1]]))), schema)


def test_wrong_use() -> None:
    with pytest.raises(TypeError, match="as glassleak"):
        gl.uncertainty(DecisionTreeClassifier())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="budget_seconds"):
        gl.uncertainty(figure_1(), SCHEMA_I, budget_seconds=0)
    with pytest.raises(SchemaError):
        gl.uncertainty(figure_1(), SCHEMA_III.__class__([gl.Binary("b")]))


def test_progress_is_reported_and_may_cancel() -> None:
    steps: list[str] = []
    gl.uncertainty(rule_list_1(), SCHEMA_III, progress=lambda step, _: steps.append(step))
    assert "counting profiles" in steps

    def cancel(_step: str, _share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gl.uncertainty(rule_list_1(), SCHEMA_III, progress=cancel)


def test_columns_apart_keeps_numbers_and_splits_indicators() -> None:
    schema = gl.Schema([
        gl.Categorical("x", ["p", "q"]), gl.Ordinal("r", 0, 4), gl.Bins("b", ["s"], [(1,)]),
        gl.Categorical("p", levels=["u", "v"], column="w"),
    ])  # fmt: skip
    apart = columns_apart(schema)
    assert apart.columns == schema.columns
    assert [a.size for a in apart] == [2, 2, 5, 2, 2]
    assert len({a.name for a in apart}) == 5


def test_profiles_beyond_any_float_are_exact() -> None:
    n = 1100
    names = tuple(f"a{i}" for i in range(n))
    rules = RuleList(
        names, (0, 1), (Rule((Condition(0, low=0.5), Condition(1, low=0.5)), 1), Rule((), 0)),
        Exact(np.array([[0, 2], [1, 0]])),
    )  # fmt: skip
    u = gl.uncertainty(rules, gl.Schema([gl.Binary(name) for name in names]))
    assert u.per_leaf is not None
    assert u.per_leaf["profiles"].tolist() == [2 ** (n - 2), 3 * 2 ** (n - 2)]
    assert u.bits == pytest.approx(2 * (n - 2) + n - 2 + np.log2(3))
    assert u.dataset is not None
    assert str(3 * 2 ** (n - 2)) in u.dataset.to_json()


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_what_remains_is_never_more_than_there_was(seed: int, depth: int) -> None:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.integers(0, 2, (60, 6)), columns=[f"c{i}" for i in range(6)])
    labels = rng.integers(0, 2, 60)
    schema = gl.Schema([gl.Binary(c) for c in table.columns])
    fitted = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(table, labels)
    u = gl.uncertainty(gl.read(fitted), schema)
    for found in (u.ordered, u.unordered, u.unordered_by_class):
        assert found is not None
        assert 0 <= found.share <= 1 + 1e-12
    assert u.dist is not None
    assert 0 <= u.dist <= 1
    # Independent yes/no columns all weigh the same, so both measures agree on trees.
    assert u.dist == pytest.approx(u.dist_g)


def test_numbers_longer_than_python_writes() -> None:
    n = 15_000
    names = tuple(f"a{i}" for i in range(n))
    rules = RuleList(
        names, (0, 1), (Rule((Condition(0, low=0.5), Condition(1, low=0.5)), 1), Rule((), 0)),
        Exact(np.array([[0, 2], [1, 0]])),
    )  # fmt: skip
    u = gl.uncertainty(rules, gl.Schema([gl.Binary(name) for name in names]))
    assert u.statements[1].endswith("2^14998.0 of 2^15000.0 profiles")
    assert u.dataset is not None
    assert "2^14998.0 profiles left" in str(u.dataset)
    written = json.loads(u.dataset.to_json())["profiles"]
    assert len(written) == 4516
    assert written.endswith(str(pow(2, n, 10**18)).zfill(18))
    (world,) = u.dataset.sample(1)
    assert u.dataset.contains(world.table, world.labels)
