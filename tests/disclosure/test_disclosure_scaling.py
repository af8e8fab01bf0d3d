"""Leaves tied by the margin, and facts that are not convex."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from growing import cvxpy, grown

import glassleak as gl
from glassleak.disclosure import known_people, problem_of
from glassleak.disclosure._scaling import scale_to_margin
from glassleak.errors import InconsistentModelError, MissingExtraError


def instance(seed: int, level: str):
    rng = np.random.default_rng(seed)
    leaves, m = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    counts = np.array(
        [rng.multinomial(rng.integers(2, 30), rng.dirichlet(np.ones(m))) for _ in range(leaves)]
    )
    label, size = counts.argmax(axis=1), counts.sum(axis=1)
    known = np.full((leaves, m), -1)
    if level == "rates":
        known[np.arange(leaves), label] = counts.max(axis=1)
        known[(known < 0) & (counts.max(axis=1) == size)[:, None]] = 0
    return SimpleNamespace(
        leaf_counts=known, leaf_size=size, leaf_label=label, margin=counts.sum(axis=0),
        n_classes=m, total=int(size.sum()),
    )  # fmt: skip


@pytest.mark.parametrize("level", ["labels", "rates"])
@pytest.mark.parametrize("seed", range(6))
def test_against_an_independent_solver(level, seed):
    cp = cvxpy()
    problem = instance(seed, level)
    found = scale_to_margin(problem)
    shape = problem.leaf_counts.shape
    size = np.repeat(problem.leaf_size[:, None], shape[1], axis=1)
    x = cp.Variable(shape, nonneg=True)
    masses = cp.multiply(size, x)
    facts = [cp.sum(x, axis=1) == 1, cp.sum(masses, axis=0) == problem.margin]
    for leaf, label in enumerate(problem.leaf_label):
        facts += [x[leaf, k] <= x[leaf, label] for k in range(shape[1]) if k != label]
        known = problem.leaf_counts[leaf]
        facts += [x[leaf, k] == known[k] / size[leaf, 0] for k in range(shape[1]) if known[k] >= 0]
    cp.Problem(cp.Maximize(cp.sum(cp.multiply(size, cp.entr(x)))), facts).solve(solver="CLARABEL")
    np.testing.assert_allclose(found.leaves, x.value, atol=1e-4)
    assert found.gap < 1e-6 * problem.total
    assert found.violation < 1e-7


def test_labels_can_bind():
    """One leaf each way; the margin wants more of class 0 than leaf 1's label leaves room for."""
    problem = SimpleNamespace(
        leaf_counts=np.full((2, 2), -1), leaf_size=np.array([10, 10]),
        leaf_label=np.array([0, 1]), margin=np.array([14, 6]), n_classes=2, total=20,
    )  # fmt: skip
    found = scale_to_margin(problem)
    # Proportional fitting would give leaf 1 seven tenths of class 0: more than its label.
    np.testing.assert_allclose(found.leaves, [[0.9, 0.1], [0.5, 0.5]], atol=1e-6)


@pytest.mark.parametrize(
    "margin", [[20, 0], [4, 16]], ids=["a label nobody has", "fewer than the label needs"]
)
def test_a_margin_that_contradicts_the_leaves(margin):
    problem = SimpleNamespace(
        leaf_counts=np.full((2, 2), -1), leaf_size=np.array([10, 10]),
        leaf_label=np.array([0, 1]), margin=np.array(margin), n_classes=2, total=20,
    )  # fmt: skip
    with pytest.raises(InconsistentModelError, match="margin"):
        scale_to_margin(problem)


def test_with_full_counts_the_margin_adds_nothing():
    model, table, _ = grown("levels", "entropy", 5, n_classes=3)
    plain = gl.disclosure(model, table, bounds=False)
    tied = gl.disclosure(model, table, margin=True, bounds=False)
    np.testing.assert_array_equal(plain.posterior, tied.posterior)
    wrong = dict(zip(model.classes, model.counts.values[0].tolist(), strict=True))
    wrong = wrong | {0: wrong[0] + 1, 1: wrong[1] - 1}
    with pytest.raises(InconsistentModelError, match="add up"):
        gl.disclosure(model, table, margin=wrong)


def test_margin_by_hand_and_wrong_margins():
    model, table, truth = grown("levels", "entropy", 5, n_classes=3)
    given = {c: int((truth == c).sum()) for c in model.classes}
    by_hand = gl.disclosure(model, table, level="labels", margin=given, split_facts=False)
    own = gl.disclosure(model, table, level="labels", margin=True, split_facts=False)
    np.testing.assert_array_equal(by_hand.posterior, own.posterior)
    assert by_hand.certificate.kind == "convex optimum"
    for wrong in ({0: 1}, given | {7: 1}, given | {0: -1}, given | {0: given[0] + 1}):
        with pytest.raises(gl.GlassleakError):
            gl.disclosure(model, table, level="labels", margin=wrong)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
@pytest.mark.parametrize(("level", "margin"), [("rates", None), ("rates", True), ("labels", True)])
def test_local_optima_are_called_local_and_satisfy_everything(criterion, level, margin):
    pytest.importorskip("casadi")
    tried = 0
    for seed in range(40):
        model, table, truth = grown("levels", criterion, seed, n_rows=40, n_columns=5, n_classes=4)
        d = gl.disclosure(model, table, truth=truth, level=level, margin=margin, bounds=False)
        plain = gl.disclosure(
            model, table, level=level, margin=margin, split_facts=False, bounds=False
        )
        assert d.overall.entropy <= plain.overall.entropy + 1e-9
        assert d.certificate.violation < 1e-6
        if not d.certificate.active:
            # What breaks no fact is the maximum with them, too.
            assert d.exact
            continue
        assert (d.status, d.certificate.kind, d.exact) == ("local", "local", False)
        gained = d.overall.people * (plain.overall.entropy - d.overall.entropy)
        assert d.certificate.gap == pytest.approx(gained, abs=1e-5)
        _check_published(d, model, table, level, margin)
        tried += 1
        if tried == 2:
            return
    pytest.fail("no instance with a binding fact")


def _check_published(d, model, table, level, margin):
    found = d.posterior.to_numpy()[d.per_person["quasi_identifier"]]
    leaf = model.apply(model.encode(table))
    for one in np.unique(leaf):
        mean = found[leaf == one].mean(axis=0)
        label = model.counts.values[one].argmax()
        assert mean.max() <= mean[label] + 1e-6
        if level == "rates":
            counts = model.counts.values[one]
            assert mean[label] == pytest.approx(counts[label] / counts.sum(), abs=1e-6)
    if margin:
        np.testing.assert_allclose(found.sum(axis=0), model.counts.values[0], atol=1e-4)


def test_without_the_optional_solver_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    stopped = 0
    for seed in range(12):
        model, table, _ = grown("levels", "gini", seed, n_columns=5, n_classes=4)
        try:
            d = gl.disclosure(model, table, level="rates", bounds=False)
        except MissingExtraError as problem:
            stopped += "glassleak[nonconvex]" in str(problem)
        else:  # where no fact is violated no solver is needed
            assert d.exact
        assert gl.disclosure(model, table, level="rates", split_facts=False, bounds=False).exact
    assert stopped


def test_rates_without_split_facts():
    """Predicted class 1 - e, the others e / (m - 1)."""
    model, table, _ = grown("levels", "gini", 2, n_classes=4)
    d = gl.disclosure(model, table, level="rates", split_facts=False)
    people = known_people(model, table)
    problem = problem_of(model, people, "rates")
    for q, leaf in zip(problem.order, problem.leaf, strict=True):
        counts = model.counts.values[problem.leaf_number[leaf]]
        right = counts.max() / counts.sum()
        expected = np.full(4, (1 - right) / 3)
        expected[counts.argmax()] = right
        np.testing.assert_allclose(d.posterior.iloc[q], expected)
    assert str(d.certificate) == "closed form"
