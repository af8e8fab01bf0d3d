import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

import glassleak as gl
from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._candidates import candidates_of, public_literals
from glassleak.learners.private._grow import costs_of, gini_cost, grow, parts
from glassleak.learners.private._parameters import PrivacyWarning
from glassleak.learners.private._rule_list import PrivateRuleListClassifier
from glassleak.models import Noisy

pytestmark = pytest.mark.filterwarnings("ignore::glassleak.learners.private.PrivacyWarning")


@parametrize_with_checks([PrivateRuleListClassifier(epsilon=50.0, random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.integers(0, 2, (n, 4)), columns=["a", "b", "c", "d"])
    return table, (table["a"] & table["b"]).to_numpy()


counts = st.lists(st.integers(0, 30), min_size=2, max_size=4)


@given(counts, counts, st.data())
def test_one_more_person_raises_every_cost_by_at_most_one(inside, outside, data):
    """Step 2 of the proof, for both criteria."""
    size = min(len(inside), len(outside))
    a, b = np.array(inside[:size])[:, None], np.array(outside[:size])[:, None]
    more = np.zeros_like(a)
    more[data.draw(st.integers(0, size - 1))] = 1
    for criterion in ("errors", "gini"):
        before = costs_of(a, b, criterion)[0]
        for after in (costs_of(a + more, b, criterion)[0], costs_of(a, b + more, criterion)[0]):
            assert 0 <= after - before <= 1


def test_gini_cost_is_exact():
    assert gini_cost([1, 2]) == Fraction(2, 3)
    assert gini_cost([0, 0]) == 0
    assert gini_cost([10**17, 1]) == Fraction(10**17, 10**17 + 1)


def test_candidates_do_not_depend_on_the_data():
    literals = public_literals(["a", "b"], None, None, 4)
    assert literals.cut.tolist() == [0.5] * 4
    # Four single conditions and four pairs on different columns.
    assert len(candidates_of(literals, 2)) == 8
    table, labels = people()
    lists = [
        PrivateRuleListClassifier(1e6, max_length=2, random_state=1).fit(part, labels[: len(part)])
        for part in (table, table.iloc[:50])
    ]
    assert lists[0].n_features_in_ == lists[1].n_features_in_


def test_cuts_come_from_the_schema():
    schema = gl.Schema(
        [
            gl.Numeric("age", low=0, high=100),
            gl.Ordinal("grade", low=1, high=3),
            gl.Binary("sex"),
        ]
    )
    literals = public_literals(["age", "grade", "sex"], schema, {"age": [18, 65]}, 4)
    by_column = {c: sorted(set(literals.cut[literals.column == c])) for c in range(3)}
    assert by_column == {0: [18.0, 65.0], 1: [1.5, 2.5], 2: [0.5]}
    assert sorted(set(public_literals(["age", "grade", "sex"], schema, None, 4).cut[:8])) == [
        20.0, 40.0, 60.0, 80.0,
    ]  # fmt: skip


def test_budget_is_spent_exactly_and_written_down():
    table, labels = people()
    model = PrivateRuleListClassifier(0.3, max_length=3, random_state=0).fit(table, labels)
    assert model.privacy_["epsilon"] == 0.3
    assert math.fsum(line["epsilon"] for line in model.ledger_) == pytest.approx(0.3, abs=1e-15)
    assert [line["what"] for line in model.ledger_] == [
        "rule 1", "rule 2", "rule 3", "counts of all rules",
    ]  # fmt: skip
    assert model.noise_scale_ == pytest.approx(1 / (0.3 * 0.3))


@given(st.fractions(min_value="1/1000", max_value=100), st.integers(0, 40))
def test_rules_share_the_budget_exactly(budget, length):
    shares = parts(budget, length)
    assert sum(shares) == (budget if length else 0)
    assert all(share * (k + 1) == shares[0] for k, share in enumerate(shares))


def test_a_spent_budget_stops_the_learner_before_it_looks():
    accountant = Accountant(Fraction(1))
    accountant.spend(Fraction(1), "something else", "none")
    literals = public_literals(["a"], None, None, 4)
    with pytest.raises(ValueError, match="costs something"):
        grow(
            np.ones((3, 2), bool), np.zeros(3, np.int64), 2, candidates_of(literals, 1),
            length=1, criterion="errors", counts_share=Fraction(1, 2), accountant=accountant,
            source=random.Random(0),
        )  # fmt: skip


def test_generous_budget_finds_the_rule():
    table, labels = people()
    model = PrivateRuleListClassifier(1000.0, max_length=1, random_state=3).fit(table, labels)
    assert model.score(table, labels) == 1.0
    assert model.rules_ == ["a and b", "otherwise"]


def test_noise_has_the_published_scale():
    table, labels = people(40)
    fits = [
        PrivateRuleListClassifier(2.0, max_length=0, random_state=i).fit(table, labels)
        for i in range(1500)
    ]
    exact = np.bincount(labels, minlength=2)
    noise = np.array([model.counts_[0] - exact for model in fits]).ravel()
    scale = fits[0].noise_scale_
    assert scale == 0.5
    expected = 2 * math.exp(-1 / scale) / (1 - math.exp(-2 / scale))
    assert abs(np.abs(noise).mean() - expected) < 0.03


def test_unseeded_fits_differ_and_are_certified():
    table, labels = people()
    fits = [PrivateRuleListClassifier(0.5).fit(table, labels) for _ in range(8)]
    assert len({model.counts_.tobytes() for model in fits}) > 1
    assert all(model.privacy_["certified"] for model in fits)
    seeded = PrivateRuleListClassifier(0.5, random_state=1).fit(table, labels)
    assert not seeded.privacy_["certified"]
    assert any("secret" in line for line in seeded.privacy_["assumptions"])


def test_published_form_says_the_counts_are_noisy():
    table, labels = people()
    model = PrivateRuleListClassifier(1.0, random_state=0).fit(table, labels)
    assert isinstance(model.to_model().counts, Noisy)
    assert model.to_model().counts.scale == model.noise_scale_


def test_declared_classes_get_counts_though_nobody_has_them():
    table, labels = people()
    model = PrivateRuleListClassifier(1.0, classes=[0, 1, 2], random_state=0).fit(table, labels)
    assert model.counts_.shape[1] == 3
    with pytest.raises(ValueError, match="not declared"):
        PrivateRuleListClassifier(1.0, classes=[0]).fit(table, labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": math.inf}, "epsilon must be finite"),
        ({"epsilon": "1"}, "epsilon must be a number"),
        ({"epsilon": 1e-30}, "epsilon must be at least"),
        ({"counts_share": 1.0}, "counts_share"),
        ({"max_width": 3}, "max_width"),
        ({"criterion": "luck"}, "criterion"),
        ({"max_length": -1}, "max_length"),
    ],
)
def test_wrong_parameters(parameters, message):
    table, labels = people(20)
    with pytest.raises(ValueError, match=message):
        PrivateRuleListClassifier(**parameters).fit(table, labels)


def test_multiclass_counts():
    table, labels = people()
    three = labels + table["c"].to_numpy() * (1 - labels) * 2
    model = PrivateRuleListClassifier(200.0, max_length=2, random_state=0).fit(table, three)
    assert Counter(model.predict(table).tolist()).keys() <= {0, 1, 2}
    assert model.score(table, three) > 0.8


def test_read_from_the_object_and_from_a_file(tmp_path):
    import skops.io

    table, labels = people()
    model = PrivateRuleListClassifier(1.0, random_state=0).fit(table, labels)
    assert gl.read(model) == model.to_model()
    skops.io.dump(model, tmp_path / "model.skops")
    assert gl.read(tmp_path / "model.skops").counts == model.to_model().counts


@pytest.mark.filterwarnings("default::glassleak.learners.private.PrivacyWarning")
def test_a_seed_warns_and_does_not_leave_the_process(tmp_path):
    """Whoever has the seed can draw the same noise and take it off."""
    import copy
    import pickle

    import skops.io
    from sklearn.base import clone

    table, labels = people()
    model = PrivateRuleListClassifier(1.0, random_state=7)
    with pytest.warns(PrivacyWarning, match="do not publish"):
        model.fit(table, labels)
    # What scikit-learn asks for stays, what is stored does not.
    assert model.random_state == clone(model).random_state == 7
    assert pickle.loads(pickle.dumps(PrivateRuleListClassifier(random_state=7))).random_state == 7
    skops.io.dump(model, tmp_path / "model.skops")
    stored = skops.io.load(
        tmp_path / "model.skops",
        trusted=skops.io.get_untrusted_types(file=tmp_path / "model.skops"),
    )
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), stored):
        assert copied.random_state is None
        assert not copied.privacy_["certified"]
        assert (copied.predict(table) == model.predict(table)).all()
    assert "random_state" not in model.to_model().provenance.settings


def test_no_warning_without_a_seed(recwarn):
    table, labels = people()
    PrivateRuleListClassifier(1.0).fit(table, labels)
    assert not [w for w in recwarn if issubclass(w.category, PrivacyWarning)]


def test_too_many_conditions_to_pair_are_refused():
    literals = public_literals([f"c{i}" for i in range(1600)], None, None, 4)
    assert len(candidates_of(literals, 1)) == 3200
    with pytest.raises(ValueError, match="too many pairs"):
        candidates_of(literals, 2)
