"""What trees of one forest must agree on, and rule lists by themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.ensemble import RandomForestClassifier
from strategies import rule_lists

import glassleak as gl
from glassleak.errors import InconsistentModelError, MalformedModelError, ModelTooLargeError
from glassleak.models import (
    Bagging,
    Condition,
    Exact,
    Forest,
    Missing,
    Noisy,
    Rule,
    RuleList,
    Tree,
)


def leaf(rows=5, distinct=None, columns=("a",), classes=(0,)) -> Tree:
    distinct = None if distinct is None else [distinct]
    return Tree(
        columns, classes, [-1], [np.nan], [-1], [-1], Exact(np.array([[rows]])),
        distinct_rows=distinct,
    )  # fmt: skip


def refused(place, kind, *args, **kwargs):
    with pytest.raises(kind) as caught:
        Forest(*args, **kwargs)
    assert caught.value.place == place


def test_members_must_agree():
    refused("trees", MalformedModelError, ())
    refused("trees[1]", MalformedModelError, (leaf(), leaf(columns=("b",))))
    refused("trees[2]", MalformedModelError, (leaf(), leaf(), leaf(classes=(1,))))
    refused("aggregation", MalformedModelError, (leaf(),), aggregation="max")


def test_rows_without_bagging_are_the_same_for_all():
    assert Forest((leaf(), leaf())).n_rows == 5
    refused("trees[1]", InconsistentModelError, (leaf(), leaf(6)))
    refused("trees[0]", InconsistentModelError, (leaf(),), n_rows=6)


def test_draws_may_outnumber_rows_but_distinct_rows_cannot():
    assert Forest((leaf(12),), Bagging("unknown", 12), 5).n_rows == 5
    assert Forest((leaf(12, 5),), Bagging("unknown", 12), 5).n_rows == 5
    refused("trees[0]", InconsistentModelError, (leaf(12, 6),), Bagging("unknown", 12), 5)


@pytest.mark.parametrize(
    ("bagging", "place"),
    [
        ({"kind": "known"}, "bagging"),
        ({"kind": "none", "seeds": [1], "recipe": "forest"}, "bagging"),
        ({"kind": "unknown", "matrix": [[1]]}, "bagging"),
        ({"kind": "perhaps"}, "bagging"),
        ({"kind": "known", "seeds": [1], "draws": 3}, "bagging"),
        ({"kind": "known", "seeds": [1], "recipe": "forest"}, "bagging.draws"),
        ({"kind": "known", "seeds": [1], "recipe": "forest", "draws": -3}, "bagging.draws"),
        ({"kind": "known", "seeds": [1], "recipe": "forest", "draws": 2**41}, "bagging.draws"),
        ({"kind": "known", "seeds": [1.5], "recipe": "forest", "draws": 3}, "bagging.seeds"),
        ({"kind": "known", "seeds": [[1]], "recipe": "forest", "draws": 3}, "bagging.seeds"),
        ({"kind": "known", "matrix": [1, 2]}, "bagging.matrix"),
        ({"kind": "known", "matrix": [[-1]]}, "bagging.matrix"),
        ({"kind": "known", "seeds": [1], "recipe": "bagging-weighted", "draws": 3}, "bagging"),
        ({"features": (1, 2, False)}, "bagging.features"),
        ({"features": (1, -1, False)}, "bagging.features"),
        ({"features": (2**40, 1, False)}, "bagging.features"),
        ({"features": (1,)}, "bagging.features"),
    ],
)
def test_bagging_that_contradicts_itself(bagging, place):
    with pytest.raises(MalformedModelError) as caught:
        Bagging(**bagging)
    assert caught.value.place == place


def test_bagging_must_fit_the_forest():
    known = Bagging("known", 5, [1], "forest")
    refused("bagging.seeds", InconsistentModelError, (leaf(), leaf()), known, 5)
    refused("bagging", MalformedModelError, (leaf(),), known)
    refused("bagging", InconsistentModelError, (leaf(0),), known, 0)
    matrix = Bagging("known", matrix=[[1, 2]])
    refused("bagging.matrix", InconsistentModelError, (leaf(),), matrix, 5)
    once = Bagging("known", 6, [1], "bagging-without-replacement")
    refused("bagging.draws", InconsistentModelError, (leaf(6),), once, 5)
    # Row weights of 0 cannot be drawn, so three draws without replacement are one too many.
    thin = Bagging("known", 3, [1], "bagging-weighted-without-replacement", [1, 0, 1, 0])
    refused("bagging.draws", InconsistentModelError, (leaf(3),), thin, 4)


def test_draws_that_would_not_fit_the_memory_are_refused_before_they_are_made():
    huge = Bagging("known", 2**39, [1], "forest")
    refused("bagging", ModelTooLargeError, (leaf(),), huge, 10)
    with pytest.raises(ModelTooLargeError):
        huge.multiplicities_of(0, 10)
    with pytest.raises(ModelTooLargeError):
        Bagging("known", 3, [1], "forest").multiplicities_of(0, 2**39)
    with pytest.raises(ModelTooLargeError):
        Bagging("known", 3, [1] * 100, "forest").multiplicities(100, 2**27)


def test_multiplicities_nobody_knows():
    with pytest.raises(ValueError, match="not known"):
        Bagging("unknown").multiplicities_of(0, 3)
    assert Bagging().multiplicities(2, 3).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert Bagging("known", matrix=[[0, 2], [1, 1]]).multiplicities(2, 2).tolist() == [
        [0, 2],
        [1, 1],
    ]


# ----------------------------------------------------------------------------------- rule lists


@given(rule_lists(), st.data())
def test_rules_capture_the_first_match(model, data):
    ends = [end for rule in model.rules for c in rule.conditions for end in (c.low, c.high)]
    number = st.one_of(st.floats(), st.sampled_from([0.5, 1.5, -0.0, *ends]))
    rows = data.draw(hnp.arrays(np.float64, (4, len(model.columns)), elements=number))
    with np.errstate(over="ignore"):
        rounded = rows.astype(model.precision).astype(np.float64)
    for row, found in zip(rounded, model.apply(rows), strict=True):
        holding = [
            i
            for i, rule in enumerate(model.rules)
            if all(c.low < row[c.column] <= c.high for c in rule.conditions)
        ]
        assert found == holding[0]


THREE_FOUR = Exact(np.array([[3], [4]]))


def rules(*conditions):
    return (*(Rule((c,)) for c in conditions), Rule(()))


@pytest.mark.parametrize(
    ("changes", "place", "kind"),
    [
        ({"rules": ()}, "rules", MalformedModelError),
        ({"rules": (Rule((Condition(0, 1),)),)}, "rules", MalformedModelError),
        ({"rules": (Rule(()), Rule(()))}, "rules[0]", MalformedModelError),
        ({"rules": rules(Condition(1, 0))}, "rules[0]", MalformedModelError),
        ({"rules": rules(Condition(-1, 0))}, "rules[0]", MalformedModelError),
        ({"precision": "half"}, "precision", MalformedModelError),
        ({"rows": [1]}, "rows", MalformedModelError),
        ({"rows": [1.5, 2.5]}, "rows", MalformedModelError),
        ({"rows": [-1, 8]}, "rows[0]", InconsistentModelError),
        ({"rows": [2**41, 8]}, "rows[0]", InconsistentModelError),
        ({"counts": THREE_FOUR, "rows": [3, 5]}, "rows[1]", InconsistentModelError),
        ({"counts": THREE_FOUR, "n_rows": 8}, "n_rows", InconsistentModelError),
        ({"counts": Exact(np.array([[3]]))}, "counts", MalformedModelError),
        ({"classes": (), "counts": Noisy([[], []], 1, "")}, "classes", MalformedModelError),
    ],
)  # fmt: skip
def test_rule_lists_that_are_none(changes, place, kind):
    fields = {
        "columns": ("a",), "classes": (0,), "rules": rules(Condition(0, 0.5)),
        "counts": Missing(""),
    }  # fmt: skip
    RuleList(**fields)
    with pytest.raises(kind) as caught:
        RuleList(**(fields | changes))
    assert caught.value.place == place


@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (math.nan, 1), (1, math.nan)])
def test_empty_intervals(ends):
    with pytest.raises(MalformedModelError, match="empty interval"):
        Condition(0, *ends)


def test_rows_of_a_rule_list():
    both = rules(Condition(0, 0.5))
    assert RuleList(("a",), (0,), both, Exact(np.array([[3], [4]]))).n_rows == 7
    assert RuleList(("a",), (0,), both, Missing(""), rows=[2, 3]).n_rows == 5
    assert RuleList(("a",), (0,), both, Missing("")).n_rows is None
    with pytest.raises(ValueError, match="expected 1 columns"):
        RuleList(("a",), (0,), both, Missing("")).apply([[1, 2]])


def test_a_model_prints_as_one_line() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (30, 3)), rng.integers(0, 2, 30)
    forest = gl.read(RandomForestClassifier(4, random_state=0).fit(X, y))
    assert repr(forest) == "<Forest: 4 trees, 30 rows, 3 columns, 2 classes, bagging known>"
    assert repr(forest.trees[0]).startswith("<Tree: ")
