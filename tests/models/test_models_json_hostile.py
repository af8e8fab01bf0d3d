"""Documents from strangers: every defect is refused, with the place it is at."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import models

from glassleak.errors import InconsistentModelError, MalformedModelError, ModelError
from glassleak.models import (
    Bagging,
    Condition,
    Exact,
    Forest,
    Noisy,
    Rule,
    RuleList,
    Tree,
    model_document,
    model_from_document,
)


def tree() -> Tree:
    return Tree(
        ("a", "b"), ("no", "yes"), [1, -1, -1], [0.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1],
        Exact(np.array([[3, 4], [1, 4], [2, 0]])), distinct_rows=[5, 4, 1],
        missing_left=[True, False, False],
    )  # fmt: skip


def forest() -> Forest:
    bagging = Bagging("known", 7, [1, 2], "forest-weighted", [0.5] * 6)
    return Forest((tree(), tree()), bagging, 6)


def rule_list() -> RuleList:
    rules = (Rule((Condition(0, 0.5),), "yes"), Rule((), "no"))
    return RuleList(("a", "b"), ("no", "yes"), rules, Noisy([[0.5, 1.5], [2, 3]], 1.0, "laplace"))


def changed(model, path, value, packed=False):
    document = copy.deepcopy(model_document(model, packed=packed))
    at = document
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return document


def refused(document, place, kind=MalformedModelError):
    with pytest.raises(kind) as caught:
        model_from_document(document)
    assert caught.value.place == place
    assert str(caught.value).startswith(place)


def test_the_samples_are_valid():
    for model in (tree(), forest(), rule_list()):
        assert model_from_document(model_document(model)) == model


@pytest.mark.parametrize("document", [None, [], "model", 3, True])
def test_what_is_no_object(document):
    refused(document, "model")


HOSTILE_NUMBERS = [2**70, -(2**70), 10**400, 1.5, math.nan, math.inf, True, "7", [7], {"a": 1}]


@pytest.mark.parametrize("value", HOSTILE_NUMBERS)
@pytest.mark.parametrize(
    ("make", "path", "place"),
    [
        (tree, ("n_rows",), "n_rows"),
        (forest, ("n_rows",), "n_rows"),
        (forest, ("trees", 1, "n_rows"), "trees[1].n_rows"),
        (forest, ("bagging", "draws"), "bagging.draws"),
        (rule_list, ("rules", 0, "if", 0, "column"), "rules[0].if[0].column"),
    ],
)
def test_whole_numbers_that_are_none(make, path, place, value):
    refused(changed(make(), path, value), place)


@pytest.mark.parametrize("value", [2**70, 10**400, math.nan, math.inf, True, "7", [7], {"a": 1}])
@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("counts", "scale"), "counts.scale"),
        (("rules", 0, "if", 0, "above"), "rules[0].if[0].above"),
        (("rules", 0, "if", 0, "up_to"), "rules[0].if[0].up_to"),
    ],
)
def test_numbers_that_are_none(path, place, value):
    refused(changed(rule_list(), path, value), place)


@pytest.mark.parametrize("value", [2**70, -(2**70), 10**400, 2**31, 1.0, math.nan, True, "1", None])
@pytest.mark.parametrize("name", ["feature", "left", "right"])
def test_entries_of_integer_arrays(name, value):
    refused(changed(tree(), (name, 1), value), name)


@pytest.mark.parametrize("value", [2**70, 10**400, 1.5, True, "1", None, [1]])
def test_entries_of_counts(value):
    with pytest.raises(MalformedModelError, match=r"^trees\[1\]\.counts"):
        model_from_document(changed(forest(), ("trees", 1, "counts", "values", 0, 0), value))


@pytest.mark.parametrize("value", [2**70, 2**60 + 1, True, "0.5", [0.5]])
def test_entries_of_float_arrays(value):
    refused(changed(tree(), ("threshold", 0), value), "threshold")


@pytest.mark.parametrize("value", [0, 1.0, "true", None, [True]])
def test_entries_of_boolean_arrays(value):
    refused(changed(tree(), ("missing_left", 0), value), "missing_left")


def test_one_long_text_among_numbers_costs_nothing():
    # numpy would reserve 4 bytes x length for each of the entries: 4 TB.
    values = ["x" * 1_000_000] + [0] * 1_000_000
    refused(changed(tree(), ("feature",), values), "feature")


@pytest.mark.parametrize("value", [[[1], [2, 3]], [[[1]]], [[]], "abc", 5, {}])
def test_arrays_that_are_none(value):
    refused(changed(tree(), ("left",), value), "left")


PACKED = [
    ({"dtype": []}, "left"),
    ({"dtype": "O"}, "left"),
    ({"dtype": "f8"}, "left"),
    ({"shape": "3"}, "left"),
    ({"shape": [2**40]}, "left"),
    ({"shape": [-1]}, "left"),
    ({"shape": [True]}, "left"),
    ({"shape": [1, 1, 3]}, "left"),
    ({"shape": [4]}, "left"),
    ({"shape": [1, 3]}, "left"),
    ({"base64": 3}, "left"),
    ({"base64": "é"}, "left"),
    ({"base64": "AAAA*"}, "left"),
    ({"base64": ""}, "left"),
]


@pytest.mark.parametrize(("change", "place"), PACKED)
def test_packed_arrays(change, place):
    document = model_document(tree(), packed=True)
    document[place] |= change
    refused(document, place)


def test_packed_booleans_are_zero_or_one():
    document = model_document(tree(), packed=True)
    document["missing_left"]["base64"] = "AgAA"
    refused(document, "missing_left")


@pytest.mark.parametrize(
    ("make", "path", "value", "place"),
    [
        (tree, ("format",), "pickle", "format"),
        (tree, ("version",), 2, "version"),
        (tree, ("version",), "1", "version"),
        (tree, ("kind",), "neural network", "kind"),
        (tree, ("kind",), [], "kind"),
        (tree, ("columns",), "ab", "columns"),
        (tree, ("columns",), ["a", "a"], "columns"),
        (tree, ("columns",), ["a", 3], "columns"),
        (tree, ("columns",), ["a", {}], "columns"),
        (tree, ("classes",), ["no", "no"], "classes"),
        (tree, ("classes",), ["no", None], "classes[1]"),
        (tree, ("classes",), ["no", []], "classes[1]"),
        (tree, ("classes",), ["no", math.nan], "classes[1]"),
        (tree, ("classes",), ["no", -math.inf], "classes[1]"),
        (tree, ("classes",), ["no"], "counts"),
        (tree, ("classes",), [], "classes"),
        (tree, ("feature",), ..., "feature"),
        (tree, ("counts",), ..., "counts"),
        (tree, ("counts",), [], "counts"),
        (tree, ("counts", "kind"), "rough", "counts.kind"),
        (tree, ("counts", "values"), ..., "counts.values"),
        (tree, ("counts",), {"kind": "missing"}, "counts.reason"),
        (tree, ("comparison",), ">", "comparison"),
        (tree, ("comparison",), ..., "comparison"),
        (tree, ("precision",), ["float32"], "precision"),
        (tree, ("provenance",), [], "provenance"),
        (tree, ("provenance", "library"), 3, "provenance"),
        (tree, ("provenance", "notes"), "none", "provenance.notes"),
        (tree, ("provenance", "notes"), [3], "provenance"),
        (tree, ("provenance", "settings"), [], "provenance"),
        (forest, ("trees",), {}, "trees"),
        (forest, ("trees",), [], "trees"),
        (forest, ("trees", 1), [], "trees[1]"),
        (forest, ("trees", 1, "threshold"), ..., "trees[1].threshold"),
        (forest, ("trees", 1, "threshold", 0), None, "trees[1].threshold[0]"),
        (forest, ("trees", 1, "counts"), [], "trees[1].counts"),
        (forest, ("trees", 1, "left", 0), 0, "trees[1].left[0]"),
        (forest, ("aggregation",), "max", "aggregation"),
        (forest, ("aggregation",), [], "aggregation"),
        (forest, ("bagging",), ..., "bagging"),
        (forest, ("bagging", "kind"), "sure", "bagging"),
        (forest, ("bagging", "kind"), "none", "bagging"),
        (forest, ("bagging", "recipe"), "soup", "bagging"),
        (forest, ("bagging", "recipe"), "", "bagging"),
        (forest, ("bagging", "draws"), None, "bagging.draws"),
        (forest, ("bagging", "draws"), 0, "bagging.draws"),
        (forest, ("bagging", "seeds", 0), 2**32, "bagging.seeds"),
        (forest, ("bagging", "seeds", 0), -1, "bagging.seeds"),
        (forest, ("bagging", "seeds"), ..., "bagging"),
        (forest, ("bagging", "features"), [1, 2], "bagging.features"),
        (forest, ("bagging", "features"), [1, 2, False], "bagging.features"),
        (forest, ("bagging", "features"), [2, 1, 1], "bagging.features"),
        (forest, ("bagging", "features"), [0, 0, True], "bagging.features"),
        (forest, ("bagging", "row_weights"), ..., "bagging"),
        (forest, ("bagging", "row_weights"), [0.0] * 6, "bagging.row_weights"),
        (forest, ("bagging", "row_weights"), [1e308] * 6, "bagging.row_weights"),
        (forest, ("bagging", "row_weights"), [-1.0] * 6, "bagging.row_weights"),
        (forest, ("bagging", "row_weights"), [math.inf] * 6, "bagging.row_weights"),
        (forest, ("n_rows",), None, "bagging"),
        (rule_list, ("rules",), ..., "rules"),
        (rule_list, ("rules",), [], "rules"),
        (rule_list, ("rules", 0), 3, "rules[0]"),
        (rule_list, ("rules", 0, "if"), None, "rules[0].if"),
        (rule_list, ("rules", 0, "if"), [], "rules[0]"),
        (rule_list, ("rules", 0, "if", 0), "a", "rules[0].if[0]"),
        (rule_list, ("rules", 0, "if", 0, "column"), ..., "rules[0].if[0]"),
        (rule_list, ("rules", 0, "if", 0, "column"), 2, "rules[0]"),
        (rule_list, ("rules", 0, "if", 0, "up_to"), 0.5, "rules[0].if[0].condition"),
        (rule_list, ("rules", 0, "then"), [], "rules[0].then"),
        (rule_list, ("rules", 0, "then"), math.nan, "rules[0].prediction"),
        (rule_list, ("rules", 1, "if"), [{"column": 0, "above": 1}], "rules"),
        (rule_list, ("counts", "scale"), 0, "counts.scale"),
        (rule_list, ("counts", "scale"), ..., "counts.scale"),
        (rule_list, ("counts", "mechanism"), 3, "counts.mechanism"),
        (rule_list, ("counts", "values", 0, 0), math.nan, "counts"),
        (rule_list, ("counts", "values"), [[1.0, 2.0]], "counts"),
        (rule_list, ("precision",), "float16", "precision"),
    ],
)
def test_defects_name_their_place(make, path, value, place):
    refused(changed(make(), path, value), place)


@pytest.mark.parametrize(
    ("make", "path", "value", "place"),
    [
        (tree, ("counts", "values", 1, 0), 2, "counts[0]"),
        (tree, ("counts", "values", 1, 0), -1, "counts[1, 0]"),
        (tree, ("counts", "values", 1, 0), 2**41, "counts[1, 0]"),
        (tree, ("distinct_rows", 0), 6, "distinct_rows[0]"),
        (tree, ("distinct_rows",), [9, 8, 1], "distinct_rows[0]"),
        (tree, ("n_rows",), 4, "n_rows"),
        (forest, ("trees", 1, "distinct_rows", 1), -1, "trees[1].distinct_rows[1]"),
        (forest, ("n_rows",), 4, "bagging.row_weights"),
        (forest, ("bagging", "seeds"), [1], "bagging.seeds"),
        (forest, ("bagging", "row_weights"), [1.0], "bagging.row_weights"),
    ],
)
def test_contradictions_name_their_place(make, path, value, place):
    refused(changed(make(), path, value), place, InconsistentModelError)


junk = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3),
        st.sampled_from([2**70, -1, 2**31, 10**400, "i4", "exact", "forest", "none", "known"]),
    ),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["dtype", "shape", "base64", "kind", "values", "if", "column"]),
        inner,
        max_size=3,
    ),
    max_leaves=6,
)  # fmt: skip


@settings(max_examples=400)
@given(model=models(), packed=st.booleans(), data=st.data())
def test_a_changed_document_is_read_or_refused_but_nothing_else(model, packed, data):
    document = model_document(model, packed=packed)
    for _ in range(data.draw(st.integers(1, 3))):
        at = document
        while True:
            keys = list(at) if isinstance(at, dict) else range(len(at))
            key = data.draw(st.sampled_from(list(keys)))
            inside = isinstance(at[key], dict | list) and len(at[key]) > 0
            if not inside or data.draw(st.integers(0, 3)) == 0:
                break
            at = at[key]
        at[key] = data.draw(junk)
    try:
        back = model_from_document(json.loads(json.dumps(document)))
    except ModelError:
        return
    assert model_from_document(model_document(back)) == back
