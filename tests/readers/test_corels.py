"""CORELS rule lists in the forms its programs print, save and hold them."""

from __future__ import annotations

import numpy as np
import pytest

from glassleak.errors import (
    InconsistentModelError,
    MalformedModelError,
    ModelError,
    ModelTooLargeError,
)
from glassleak.models import (
    Condition,
    Exact,
    Missing,
    RuleList,
    model_document,
    model_from_document,
)
from glassleak.readers._limits import Limits
from glassleak.readers.libraries._corels import (
    looks_like_corels_json,
    looks_like_corels_text,
    read_corels_json,
    read_corels_text,
)

LIMITS = Limits()

ONE_LINE = """RULELIST:
if [age<=22 && sex:Male]: [recid = 1]
else if [not priors>3]: [recid = 0]
else [recid = 1]
"""
PYTHON = """RULELIST:
if [age<=22 && sex:Male]:
  recid = True
else if [not priors>3]:
  recid = False
else\x20
  recid = True"""
CPP = """writing logs to: /somewhere/x.txt

OPTIMAL RULE LIST
if ({age<=22,sex:Male}) then ({recid=1})
else if (not priors>3) then ({recid=0})
else ({recid=1})


writing optimal rule list to: /somewhere/y.txt

final num_nodes: 377
"""
SAVED = "{age<=22,sex:Male}~1;not priors>3~0;default~1"

# In the order of first use: age<=22, sex:Male, priors>3.
PEOPLE = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
CAPTURED = [0 if a and b else (1 if not c else 2) for a, b, c in PEOPLE.tolist()]


@pytest.mark.parametrize("text", [ONE_LINE, PYTHON, CPP, SAVED, ONE_LINE.replace("\n", "\r\n")])
def test_every_printed_form_is_the_same_list(text):
    assert looks_like_corels_text(text[:4096])
    model = read_corels_text(text, LIMITS)
    assert isinstance(model, RuleList)
    assert model.columns == ("age<=22", "sex:Male", "priors>3")
    assert model.classes == (0, 1)
    assert [rule.prediction for rule in model.rules] == [1, 0, 1]
    np.testing.assert_array_equal(model.apply(PEOPLE), CAPTURED)
    assert isinstance(model.counts, Missing)
    assert "CORELS" in model.counts.reason
    assert model.n_rows is None
    assert model_from_document(model_document(model)) == model


def test_conditions_are_on_yes_no_columns():
    model = read_corels_text(ONE_LINE, LIMITS)
    assert model.rules[0].conditions == (Condition(0, low=0.5), Condition(1, low=0.5))
    assert model.rules[1].conditions == (Condition(2, high=0.5),)


@pytest.mark.parametrize(
    "text", ["RULELIST:\nrecid = True", "OPTIMAL RULE LIST\nif (1) then ({recid=1})\n", "default~1"]
)
def test_a_list_without_rules(text):
    model = read_corels_text(text, LIMITS)
    assert len(model.rules) == 1
    assert model.rules[0].prediction == 1
    assert model.classes == (0, 1)


def test_all_features_are_known_when_printed():
    text = PYTHON + "\nAll features: (['priors>3', 'age<=22', \"it's\", 'sex:Male'])"
    model = read_corels_text(text, LIMITS)
    assert model.columns == ("priors>3", "age<=22", "it's", "sex:Male")
    assert [c.column for c in model.rules[0].conditions] == [1, 3]
    with pytest.raises(MalformedModelError, match="not among the features"):
        read_corels_text(PYTHON + "\nAll features: (['priors>3'])", LIMITS)


def test_named_labels():
    text = "if ({a}) then ({two-year:Yes})\nelse ({two-year:No})\n"
    assert looks_like_corels_text(text)
    model = read_corels_text(text, LIMITS)
    assert model.classes == ("No", "Yes")
    assert [r.prediction for r in model.rules] == ["Yes", "No"]
    assert model.provenance.settings["prediction_name"] == "two-year"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("RULELIST:\nif [a]: [y = 1]\nelse if [b] [y = 0]\nelse [y = 1]", "line 3"),
        ("RULELIST:\nif [a]: [y = 1]\n\nwhatever\nelse [y = 1]", "line 4"),
        ("RULELIST:\nif [a]: [y = 1]\n", "line 2: the rule list has no default"),
        ("RULELIST:\nelse [y = 1]", "line 2"),
        ("RULELIST:\nif [a]: [y = 1]\nif [b]: [y = 1]\nelse [y = 0]", "line 3"),
        ("RULELIST:\nif [a]: [y = 1]\nelse [z = 0]", "line 3"),
        ("RULELIST:\nif [a && ]: [y = 1]\nelse [y = 0]", "line 2"),
        ("RULELIST:\nif [a]: [y]\nelse [y = 0]", "line 2"),
        ("RULELIST:\nif [a]:\nelse\n y = 0", "line 3"),
        ("RULELIST:\nif [a]: [y = 1]\nelse [y = 0]\nmore", "line 4"),
        ("if (a) then (y=1\nelse (y=0)", "line 1"),
        ("RULELIST:\n", "line 1"),
        ("{a}~1;default~0\nmore", "line 2"),
    ],
)
def test_lines_that_are_not_understood_are_named(text, line):
    with pytest.raises(MalformedModelError, match=line):
        read_corels_text(text, LIMITS)


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "tree\nversion=v4\n", "if x:\n    y = 1\n", "if [x for x in y]:\n    run()\n",
     "a,b,c\n1,2,3\n", "Dear reader,\nif (you) think so\n", "x~1", "age~2;default~3"],
)  # fmt: skip
def test_other_texts_are_left_alone(text):
    assert not looks_like_corels_text(text)


def test_long_hostile_lines_take_no_time():
    for line in ("if (" + ") then (" * 200_000, "if [" + "]:" * 200_000 + "x", "'" * 300_000):
        with pytest.raises(ModelError):
            read_corels_text("RULELIST:\n" + line, LIMITS)
    quotes = "RULELIST:\ny = 1\nAll features: ([" + "'\\" * 300_000 + "])"
    with pytest.raises(MalformedModelError):
        read_corels_text(quotes, LIMITS)


def test_text_over_the_limit():
    with pytest.raises(ModelTooLargeError):
        read_corels_text(ONE_LINE, Limits(json_bytes=10))


def document() -> dict[str, object]:
    return {
        "rules": [
            {"antecedents": [1, -3], "prediction": 1, "train_labels": [2, 7]},
            {"antecedents": [2], "prediction": False, "train_labels": [5.0, 1]},
            {"antecedents": [0], "prediction": True, "train_labels": [0, 4]},
        ],
        "features": ["a", "b", "c"],
        "prediction_name": "y",
    }


def test_json_with_captured_counts():
    assert looks_like_corels_json(document())
    model = read_corels_json(document(), LIMITS)
    assert isinstance(model, RuleList)
    assert isinstance(model.counts, Exact)
    assert model.counts.values.tolist() == [[2, 7], [5, 1], [0, 4]]
    assert model.n_rows == 19
    assert model.columns == ("a", "b", "c")
    np.testing.assert_array_equal(model.apply([[1, 0, 0], [1, 1, 1], [0, 0, 1]]), [0, 1, 2])
    assert model_from_document(model_document(model)) == model


def test_json_without_counts_and_in_the_saved_spelling():
    source = document()
    for rule in source["rules"]:
        del rule["train_labels"]
    short = {"r": source["rules"], "f": source["features"], "p": "y"}
    assert looks_like_corels_json(short)
    model = read_corels_json(short, LIMITS)
    assert isinstance(model.counts, Missing)
    assert model == read_corels_json(source, LIMITS)


@pytest.mark.parametrize(
    ("at", "value", "error", "place"),
    [
        ((0, "antecedents"), [4], MalformedModelError, r"rules\[0\].antecedents\[0\]"),
        ((0, "antecedents"), [], MalformedModelError, r"rules\[0\].antecedents"),
        ((0, "antecedents"), [1, 0], MalformedModelError, r"rules\[0\].antecedents\[1\]"),
        ((0, "antecedents"), [0], MalformedModelError, r"rules\[0\]"),
        ((2, "antecedents"), [1], MalformedModelError, "last rule"),
        ((1, "prediction"), 2, MalformedModelError, r"rules\[1\].prediction"),
        ((1, "train_labels"), None, MalformedModelError, r"rules\[1\].train_labels"),
        ((1, "train_labels"), [1.5, 1], InconsistentModelError, r"rules\[1\].train_labels\[0\]"),
        ((1, "train_labels"), [-1, 1], InconsistentModelError, r"rules\[1\].train_labels\[0\]"),
        ((1, "train_labels"), [1, 2, 3], MalformedModelError, r"rules\[1\].train_labels"),
        ((1, "train_labels"), [1, float("inf")], InconsistentModelError, "train_labels"),
    ],
)
def test_broken_json_is_refused_and_the_place_is_named(at, value, error, place):
    source = document()
    source["rules"][at[0]][at[1]] = value
    with pytest.raises(error, match=place):
        read_corels_json(source, LIMITS)


@pytest.mark.parametrize(
    "other",
    [None, [], {}, {"rules": []}, {"rules": [], "features": []}, {"format": "glassleak-model"},
     {"rules": [{"if": [], "then": 1}], "features": ["a"]},
     {"format": "glassleak-model", "rules": [{"antecedents": [0]}], "features": []}],
)  # fmt: skip
def test_other_documents_are_left_alone(other):
    assert not looks_like_corels_json(other)
