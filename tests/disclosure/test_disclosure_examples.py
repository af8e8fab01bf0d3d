"""The two examples of the maximum-entropy paper, with the corrected numbers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from growing import D2

import glassleak as gl
from glassleak.learners import ID3Classifier


def posterior_of(d: gl.disclosure, klass: str) -> list[float]:
    return d.posterior[klass].tolist()


@pytest.fixture(scope="module")
def d1():
    rows = """Masters USA Female <=50K
        Masters USA Male >50K
        Masters Canada Male <=50K
        Masters Canada Male <=50K
        Masters Canada Female <=50K
        Masters Canada Female >50K
        Doctorate Canada Female >50K
        Doctorate Canada Female >50K
        Doctorate USA Male <=50K
        Doctorate USA Male >50K
        Doctorate USA Female >50K"""
    return pd.DataFrame(
        [line.split() for line in rows.splitlines()],
        columns=["Education", "Country", "Gender", "Salary"],
    )


def learned(table, criterion):
    """The paper's trees: two people are not split further."""
    features = table.drop(columns="Salary")
    return gl.read(ID3Classifier(criterion, min_samples_split=3).fit(features, table["Salary"]))


def test_d1_without_split_facts(d1):
    d = gl.disclosure(learned(d1, "entropy"), d1, "Salary", split_facts=False)
    assert posterior_of(d, "<=50K") == [0.5, 0.5, 1, 0.5, 0, 0.5, 0]
    assert d.overall.d_overall == pytest.approx(0.1260, abs=5e-5)
    assert str(d.certificate) == "closed form"
    assert d.exact
    assert d.overall.certain == 5


@pytest.mark.parametrize(
    ("criterion", "q1", "d_overall"),
    [("entropy", 0.6530, 0.0775), ("gini", 1 - math.sqrt(0.125), 0.0793)],
)
def test_d1_with_split_facts(d1, criterion, q1, d_overall):
    d = gl.disclosure(learned(d1, criterion), d1, "Salary")
    expected = [q1, 1 - q1, 1, 0.5, 0, 0.5, 0]
    np.testing.assert_allclose(posterior_of(d, "<=50K"), expected, atol=6e-5)
    assert d.overall.d_overall == pytest.approx(d_overall, abs=5e-5)
    assert d.overall.d_overall_without_split_facts == pytest.approx(0.1260, abs=5e-5)
    assert d.certificate.kind == "convex optimum"
    assert d.certificate.gap < 1e-7
    # Among Masters, Gender would have been asked for.
    assert [fact.split(": ")[1] for fact in d.certificate.active] == ["Gender"]
    assert d.exact


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_d1_one_integer_world_is_left(d1, criterion):
    """The estimate says 65 %; that the two are *certain* only the exact bounds can say."""
    d = gl.disclosure(learned(d1, criterion), d1, "Salary")
    assert d.per_person["certain_value"].tolist()[:2] == ["<=50K", ">50K"]
    least = d.bounds.xs("least", axis=1, level="count").to_numpy()
    most = d.bounds.xs("most", axis=1, level="count").to_numpy()
    np.testing.assert_array_equal(least, most)


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_d2_stays_at_one_half(criterion):
    """Figure 5 prints 0.815 for q2; one half satisfies every constraint and has more entropy."""
    d = gl.disclosure(learned(D2, criterion), D2, "Salary")
    np.testing.assert_allclose(posterior_of(d, "<=50K"), [1, 0.5, 0.5, 0], atol=1e-9)
    assert d.overall.d_overall == pytest.approx(math.log(2) / 3)
    assert str(d.certificate) == "closed form"
    # "100 %" in the paper is integer reasoning, which the bounds recover.
    assert d.per_person["certain_value"].tolist() == D2["Salary"].tolist()


@pytest.mark.parametrize(("criterion", "least"), [("entropy", 0.1845), ("gini", 0.2753)])
def test_d2_what_the_constraint_allows(criterion, least):
    """With t = P(<=50K | q2) and 1 - t for q3, Education is not better than Age from `least` on."""
    from glassleak.disclosure import Candidates, known_people, problem_of, split_facts_of

    model = learned(D2, criterion)
    problem = problem_of(model, known_people(model, D2))
    facts, _ = split_facts_of(problem)
    candidates = Candidates(problem, facts)

    def slack(t):
        given = np.array([[2, 0], [t, 1 - t], [1 - t, t], [0, 2]])
        return candidates.scan(0, given[problem.order]).slack.min()

    assert slack(least - 1e-3) < 0 < slack(least + 1e-3)
    assert slack(0.5) > 0


@pytest.mark.parametrize("level", ["labels", "rates"])
def test_levels_of_d1(d1, level):
    d = gl.disclosure(learned(d1, "entropy"), d1, "Salary", level=level)
    if level == "labels":
        # Uniform, even with split facts: then no split is better than any other.
        assert np.ptp(d.posterior.to_numpy()) == 0
        assert str(d.certificate) == "closed form"
    else:
        # With two classes the error rate says everything.
        assert posterior_of(d, "<=50K")[0] == pytest.approx(0.6530, abs=5e-5)
