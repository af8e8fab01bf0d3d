"""What may be asked, what the gate lets through, and what strangers get."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from growing import D2, grown, random_table
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import glassleak as gl
from glassleak.disclosure import known_people, problem_of, split_facts_of
from glassleak.errors import SchemaError, UnsupportedModelError
from glassleak.learners import ID3Classifier
from glassleak.models import Exact, Missing, MultiwayTree, Provenance, Rule, RuleList


def gate(model, table, wish="auto"):
    return split_facts_of(problem_of(model, known_people(model, table)), wish)


@pytest.mark.parametrize(
    "settings",
    [
        {"splitter": "random"},
        {"max_features": 2},
        {"max_features": "sqrt"},
        {"max_features": 0.5},
    ],
    ids=str,
)
def test_settings_that_make_split_facts_untrue(settings):
    table, truth = random_table(0, n_rows=60)
    model = gl.read(DecisionTreeClassifier(random_state=0, **settings).fit(table, truth))
    facts, why = gate(model, table)
    assert facts is None
    assert "left out" in why
    with pytest.raises(UnsupportedModelError, match="do not hold"):
        gate(model, table, True)
    assert gate(model, table, "entropy")[0].measure == "entropy"


@pytest.mark.parametrize(
    ("settings", "measure", "smallest"),
    [
        ({}, "gini", 1),
        ({"criterion": "log_loss"}, "entropy", 1),
        ({"criterion": "entropy", "max_features": 1.0}, "entropy", 1),
        ({"max_features": 4, "min_samples_leaf": 5}, "gini", 5),
        ({"min_samples_leaf": 0.11}, "gini", 7),
        ({"min_weight_fraction_leaf": 0.11, "min_samples_leaf": 2}, "gini", 7),
        ({"max_leaf_nodes": 5, "ccp_alpha": 0.01}, "gini", 1),
    ],
    ids=str,
)
def test_settings_that_make_them_true(settings, measure, smallest):
    table, truth = random_table(0, n_rows=60)
    model = gl.read(DecisionTreeClassifier(random_state=0, **settings).fit(table, truth))
    facts, _ = gate(model, table)
    assert (facts.measure, facts.min_leaf) == (measure, smallest)


def test_other_learners_make_no_such_promise():
    table, truth = random_table(0, n_rows=60)
    extra = gl.read(ExtraTreeClassifier(random_state=0).fit(table, truth))
    assert gate(extra, table)[0] is None
    id3 = gl.read(ID3Classifier().fit(table, truth))
    for changed in (
        Provenance(),
        Provenance(estimator="ID3"),
        Provenance(estimator="ID3", settings={"criterion": "mdl"}),
        Provenance(estimator="C4.5", settings={"criterion": "gain_ratio"}),
    ):
        assert gate(dataclasses.replace(id3, provenance=changed), table)[0] is None
    known = Provenance(estimator="C4.5", settings={"criterion": "entropy"})
    assert gate(dataclasses.replace(id3, provenance=known), table)[0].measure == "entropy"


def test_weights_and_class_weights():
    table, truth = random_table(0, n_rows=60)
    heavy = DecisionTreeClassifier(random_state=0).fit(
        table, truth, sample_weight=np.random.default_rng(0).integers(1, 4, len(table))
    )
    model = gl.read(heavy)
    if isinstance(model.counts, Exact):
        # The table cannot be the training set as the counts have it, or the gate is shut.
        with pytest.raises(SchemaError):
            gl.disclosure(model, table)
    else:
        with pytest.raises(UnsupportedModelError):
            gl.disclosure(model, table)


def test_rule_lists_are_partitions_too():
    from glassleak.models import Condition

    rules = RuleList(
        columns=("a", "b"), classes=(0, 1),
        rules=(Rule((Condition(0, low=0.5),), 1), Rule((), 0)),
        counts=Exact(np.array([[1, 3], [4, 0]])),
    )  # fmt: skip
    table = pd.DataFrame({"a": [1] * 4 + [0] * 4, "b": [0, 1] * 4})
    d = gl.disclosure(rules, table)
    assert d.posterior.loc[(1, 0)].tolist() == [0.25, 0.75]
    assert d.posterior.loc[(0, 1)].tolist() == [1, 0]
    assert d.exact
    with pytest.raises(UnsupportedModelError):
        gl.disclosure(rules, table, split_facts=True)


def test_lines_may_stand_for_several_people():
    model, table, truth = grown("levels", "gini", 4)
    one_by_one = gl.disclosure(model, table, truth=truth)
    grouped = table.assign(truth=truth).value_counts().reset_index(name="people")
    together = gl.disclosure(model, grouped, truth="truth", people="people")
    pd.testing.assert_frame_equal(
        one_by_one.posterior.sort_index(), together.posterior.sort_index(), check_names=False
    )
    assert dataclasses.asdict(together.overall) == pytest.approx(
        dataclasses.asdict(one_by_one.overall)
    )


def test_columns_may_be_in_any_order_and_more_than_needed():
    model, table, _ = grown("levels", "gini", 4)
    shuffled = table[list(reversed(table.columns))].assign(extra="x")
    d = gl.disclosure(model, shuffled, bounds=False)
    np.testing.assert_array_equal(d.posterior, gl.disclosure(model, table, bounds=False).posterior)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="c0"), "no column 'c0'"),
        (lambda t: t.iloc[1:], "not .all of. the training set"),
        (lambda t: t.iloc[:0], "no people"),
        (lambda t: pd.concat([t, t]), "not .all of. the training set"),
        (lambda t: t.assign(c0="x"), "c0"),
        (lambda t: t.assign(c0=np.nan), "c0|training set"),
        (lambda t: t.assign(c0=np.inf), "c0|infinite"),
        (lambda t: pd.concat([t, t[["c0"]]], axis=1), "two columns"),
    ],
)
@pytest.mark.parametrize("kind", ["levels", "thresholds"])
def test_tables_that_do_not_fit(kind, change, message):
    model, table, _ = grown(kind, "gini", 4)
    with pytest.raises(SchemaError, match=message):
        gl.disclosure(model, change(table))


def test_truths_and_numbers_of_people_that_do_not_fit():
    model, table, truth = grown("levels", "gini", 4)
    for wrong in (truth[1:], [9] * len(table), "nowhere", [[0]] * len(table), [None] * len(table)):
        with pytest.raises(SchemaError):
            gl.disclosure(model, table, truth=wrong)
    for wrong in ([0] * len(table), [1.5] * len(table), [1], "nowhere", ["x"] * len(table),
                  [2**60] * len(table)):  # fmt: skip
        with pytest.raises(SchemaError):
            gl.disclosure(model, table, people=wrong)
    # As read back from a CSV file.
    d = gl.disclosure(model, table, truth=[str(t) for t in truth])
    assert d.overall.d_overall is not None


def test_models_that_do_not_publish_enough():
    model, table, _ = grown("thresholds", "gini", 4)
    silent = dataclasses.replace(model, counts=Missing("not told"), provenance=Provenance())
    with pytest.raises(UnsupportedModelError):
        gl.disclosure(silent, table)
    forest = gl.read(RandomForestClassifier(3, random_state=0).fit(table, table["c0"]))
    with pytest.raises(UnsupportedModelError):
        gl.disclosure(forest, table)
    with pytest.raises(UnsupportedModelError, match="predicts from"):
        gl.disclosure(model, table, sensitive="c0")
    with pytest.raises(TypeError):
        gl.disclosure("model.skops", table)


def test_a_tree_that_publishes_labels_and_rates_only():
    table = D2.drop(columns="Salary")
    full = gl.read(ID3Classifier(min_samples_split=3).fit(table, D2["Salary"]))
    labels = np.where(full.feature < 0, full.counts.values.argmax(axis=1), -1)
    errors = np.where(full.feature < 0, full.counts.values.min(axis=1), -1)
    rates = dataclasses.replace(
        full, counts=Missing("rates"), label=labels, rows=full.counts.totals, errors=errors
    )
    np.testing.assert_array_equal(
        gl.disclosure(rates, table, level="rates").posterior, gl.disclosure(full, table).posterior
    )
    only = dataclasses.replace(rates, errors=None)
    assert np.ptp(gl.disclosure(only, table, level="labels").posterior.to_numpy()) == 0
    with pytest.raises(UnsupportedModelError, match="only labels"):
        gl.disclosure(only, table, level="rates")
    assert isinstance(full, MultiwayTree)


@pytest.mark.parametrize(
    "wrong",
    [{"level": "all"}, {"split_facts": "mdl"}, {"bounds": "some"}, {"budget_seconds": 0}],
    ids=str,
)
def test_wrong_arguments(wrong):
    model, table, _ = grown("levels", "gini", 4)
    with pytest.raises(ValueError):
        gl.disclosure(model, table, **wrong)


def test_one_leaf_one_class_and_one_column():
    table = pd.DataFrame({"a": [0, 1, 2]})
    pure = gl.read(DecisionTreeClassifier().fit(table, [1, 1, 1]))
    d = gl.disclosure(pure, table)
    assert d.overall.sure == 3
    assert d.posterior.index.tolist() == [0, 1, 2]
    split = gl.read(DecisionTreeClassifier().fit(table, [0, 1, 1]))
    assert gl.disclosure(split, table).overall.certain == 3


def test_progress_can_cancel():
    class Stop(Exception):
        pass

    def stop(step, share):
        raise Stop

    for seed in range(40):
        model, table, _ = grown("levels", "entropy", seed)
        if gl.disclosure(model, table, bounds=False).certificate.active:
            with pytest.raises(Stop):
                gl.disclosure(model, table, bounds=False, progress=stop)
            return
    pytest.fail("no instance with a binding fact")
