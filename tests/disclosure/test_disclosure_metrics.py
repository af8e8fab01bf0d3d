"""What is said about each person and about all."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from growing import grown

import glassleak as gl


@pytest.fixture(scope="module")
def example():
    model, table, truth = grown("thresholds", "gini", 7, n_rows=80, n_classes=3, depth=4)
    return gl.disclosure(model, table, truth=truth), table, truth


def test_per_person_by_hand(example):
    d, table, truth = example
    assert list(d.per_person.index) == list(table.index)
    for line in (0, 17, 60):
        p = d.posterior.loc[tuple(table.iloc[line])].to_numpy()
        person = d.per_person.iloc[line]
        assert person["probability"] == p.max()
        assert person["most_likely"] == d.classes[p.argmax()]
        assert person["effective_values"] == pytest.approx(
            math.exp(-sum(v * math.log(v) for v in p if v))
        )
        assert person["probability_of_truth"] == p[list(d.classes).index(truth[line])]
        assert person["right"] == (person["most_likely"] == truth[line])
        same = (table == table.iloc[line]).all(axis=1).to_numpy()
        own = np.array([(truth[same] == c).mean() for c in d.classes])
        expected = sum(a * math.log(a / b) for a, b in zip(own, p, strict=True) if a)
        assert person["divergence"] == pytest.approx(expected, abs=1e-12)


def test_overall_by_hand(example):
    d, table, truth = example
    o, lines = d.overall, d.per_person
    assert o.people == len(table)
    assert o.quasi_identifiers == len(table.drop_duplicates()) == len(d.posterior)
    assert o.entropy == pytest.approx(lines["entropy"].mean())
    assert o.d_overall == pytest.approx(lines["divergence"].mean())
    likely = lines["probability"] >= 0.9
    assert (o.likely, o.likely_right) == (likely.sum(), (likely & lines["right"]).sum())
    assert o.likely == o.likely_right + o.likely_wrong
    sure = lines["probability"] >= 1 - 1e-6
    assert (o.sure, o.sure_wrong) == (sure.sum(), 0)
    assert o.k == table.value_counts().min()
    everybody = np.array([(truth == c).mean() for c in d.classes])
    far = np.abs(d.posterior.to_numpy() - everybody).sum(axis=1) / 2
    assert o.t == pytest.approx(far.max())
    assert o.alpha == d.posterior.to_numpy().max()
    assert o.distinct_l == (d.posterior.to_numpy() > 1e-6).sum(axis=1).min()


def test_certain_values_are_true(example):
    d, _, _ = example
    certain = d.per_person.dropna(subset="certain_value")
    assert d.overall.certain == len(certain) > 0
    assert (certain["certain_value"] == certain["true_value"]).all()


def test_bounds_hold_the_truth(example):
    d, _, _ = example
    number = d.per_quasi_identifier["people"].to_numpy()[:, None]
    counts = d.true_shares.to_numpy() * number
    assert (d.bounds.xs("least", axis=1, level="count").to_numpy() <= counts + 1e-9).all()
    assert (d.bounds.xs("most", axis=1, level="count").to_numpy() >= counts - 1e-9).all()


def test_top_effects():
    for seed in range(40):
        model, table, truth = grown("levels", "entropy", seed, n_rows=40)
        d = gl.disclosure(model, table, truth=truth, bounds=False)
        if d.certificate.active:
            break
    top = d.top_effects(5)
    assert len(top) == 5
    assert (top["difference"].diff().dropna() <= 0).all()
    np.testing.assert_allclose(
        top["difference"], top["without_split_facts"] - top["with_split_facts"]
    )
    assert top["mean_of_top"].iloc[-1] == pytest.approx(top["difference"].mean())
    moved = gl.disclosure(model, table, bounds=False).top_effects(3)
    assert moved["difference"].iloc[0] > 0


def test_document_is_json(example):
    d, _, _ = example
    text = json.dumps(d.to_document(), allow_nan=False)
    assert "more disclosure" in text
    assert "Disclosure" in repr(d)
