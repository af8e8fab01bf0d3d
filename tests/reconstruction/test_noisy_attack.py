"""Private models can be attacked like any other; what comes out is likely at best."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import glassleak as gl
from glassleak.errors import UnsupportedModelError
from glassleak.learners import PrivateForestClassifier, PrivateRuleListClassifier
from glassleak.learners.private import PrivateTreeClassifier

pytestmark = pytest.mark.filterwarnings("ignore::glassleak.learners.private.PrivacyWarning")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (200, 4)), columns=list("abcd"))
    schema = gl.Schema([gl.Binary(name) for name in "abcd"])
    return table, (table["a"] | table["b"]).to_numpy(), schema


@pytest.mark.parametrize("learner", [PrivateRuleListClassifier, PrivateTreeClassifier])
def test_likely_and_never_certain(learner, people):
    table, labels, schema = people
    model = gl.read(learner(2.0, random_state=0).fit(table, labels))
    found = gl.reconstruct(model, schema, n_rows=200)
    assert found.status == "likely"
    assert not found.exact
    assert len(found.table) == 200
    assert found.certificate.certain_rows == 0
    assert found.certificate.unique is None
    assert len(found.certificate.bounds) == 0
    assert found.confidence.max() < 1
    assert "nothing about a single person is certain" in found.certificate.statements[0]


def test_less_noise_gives_more_away(people):
    table, labels, schema = people
    errors = {}
    for epsilon in (0.05, 200.0):
        fits = [
            PrivateTreeClassifier(epsilon, 4, random_state=i).fit(table, labels) for i in range(4)
        ]
        errors[epsilon] = np.mean(
            [
                gl.reconstruction_error(
                    table, gl.reconstruct(gl.read(fit), schema, n_rows=200).table, schema
                )
                for fit in fits
            ]
        )
    assert errors[200.0] < errors[0.05] - 0.05


def test_number_of_rows_need_not_be_known(people):
    table, labels, schema = people
    model = gl.read(PrivateRuleListClassifier(5.0, random_state=1).fit(table, labels))
    assert abs(len(gl.reconstruct(model, schema).table) - 200) < 40


def test_trees_of_a_private_forest_saw_different_people(people):
    table, labels, schema = people
    fitted = PrivateForestClassifier(3, 5.0, random_state=0).fit(table, labels)
    for forest in (gl.read(fitted), fitted.to_model()):
        found = gl.reconstruct(forest, schema, n_rows=200)
        assert found.status == "likely"
        assert len(found.table) == len(found.labels) == len(found.confidence) == 200
        assert found.certificate.certain_rows == 0
        assert found.confidence.max() < 1
    assert abs(len(gl.reconstruct(forest, schema).table) - 200) < 60


def test_forests_of_unknown_making_are_refused(people):
    table, labels, schema = people
    forest = gl.read(PrivateForestClassifier(2, 1.0, random_state=0).fit(table, labels))
    stranger = dataclasses.replace(forest, provenance=gl.models.Provenance())
    with pytest.raises(UnsupportedModelError):
        gl.reconstruct(stranger, schema)


def test_side_knowledge_about_a_private_forest_is_refused(people):
    table, labels, schema = people
    forest = gl.read(PrivateForestClassifier(2, 1.0, random_state=0).fit(table, labels))
    with pytest.raises(UnsupportedModelError, match="whose tree"):
        gl.reconstruct(forest, schema, known=gl.Known(columns=table[["a"]]))
