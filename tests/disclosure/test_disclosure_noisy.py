"""Disclosure where counts carry noise: the most likely counts, no bounds, nothing proved."""

import numpy as np
import pandas as pd
import pytest

import glassleak as gl
from glassleak.errors import SchemaError
from glassleak.learners import PrivateRuleListClassifier, PrivateTreeClassifier
from glassleak.models import Condition, Exact, Noisy, Rule, RuleList

pytestmark = pytest.mark.filterwarnings("ignore::glassleak.learners.private.PrivacyWarning")
PEOPLE = pd.DataFrame({"a": [1] * 10 + [0] * 20})


def rules(counts):
    return RuleList(("a",), ("no", "yes"), (Rule((Condition(0, low=0.5),), "yes"), Rule((), "no")),
                    counts)  # fmt: skip


def test_counts_are_corrected_by_what_the_adversary_knows():
    """Ten people fall under the first rule, whatever the noise says."""
    noisy = gl.disclosure(rules(Noisy(np.array([[-2.0, 14.0], [18.0, 2.0]]), 2.0, "x")), PEOPLE)
    exact = gl.disclosure(rules(Exact([[0, 10], [18, 2]])), PEOPLE)
    assert noisy.posterior.equals(exact.posterior)
    assert not noisy.exact
    assert exact.exact
    assert noisy.bounds is None
    assert "proves nothing" in " ".join(noisy.assumptions)


@pytest.mark.parametrize("values", [[[-5.0, -9.0], [1.0, 1.0]], [[400.0, 3.0], [0.0, 0.0]]])
def test_any_noise_gives_an_estimate(values):
    found = gl.disclosure(rules(Noisy(np.array(values), 5.0, "x")), PEOPLE)
    assert np.allclose(found.posterior.sum(axis=1), 1)
    assert found.overall.people == 30


@pytest.mark.parametrize("learner", [PrivateRuleListClassifier, PrivateTreeClassifier])
def test_models_of_the_private_learners(learner):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (400, 4)), columns=list("abcd"))
    truth = table["a"] & table["b"]
    model = gl.read(learner(50.0, random_state=0).fit(table, truth))
    found = gl.disclosure(model, table, truth=truth.to_numpy())
    assert not found.exact
    assert found.bounds is None
    # With hardly any noise the estimate is as good as the model.
    assert (
        found.posterior.to_numpy().argmax(axis=1) == found.true_shares.to_numpy().argmax(axis=1)
    ).all()


def test_a_table_without_the_columns():
    with pytest.raises(SchemaError):
        gl.disclosure(rules(Noisy(np.ones((2, 2)), 1.0, "x")), PEOPLE.rename(columns={"a": "z"}))
