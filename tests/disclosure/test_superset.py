"""People of a register of whom only some were in the training set."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from growing import cvxpy, impurity
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak.disclosure import disclosure_from_register, known_people
from glassleak.disclosure._superset import register_bounds, register_problem
from glassleak.errors import SchemaError, UnsupportedModelError
from glassleak.learners import ID3Classifier


def chosen(seed, criterion="gini", n_rows=24, n_columns=3, depth=2, share=0.6):
    """A register, who of it was in the training set, and the tree grown on those."""
    rng = np.random.default_rng(seed)
    register = pd.DataFrame({f"c{i}": rng.integers(0, 3, n_rows) for i in range(n_columns)})
    values = np.where(
        rng.random(n_rows) < 0.6, register.sum(axis=1) % 2, rng.integers(0, 2, n_rows)
    )
    trained = rng.random(n_rows) < share
    trained[:6] = True
    values[:2] = 0, 1
    learner = ID3Classifier(criterion, max_depth=depth)
    model = gl.read(learner.fit(register[trained], values[trained]))
    levels = [set(own) for own in model.levels]
    known = [all(v in own for v, own in zip(row, levels, strict=True))
             for row in register.to_numpy().tolist()]  # fmt: skip
    return model, register[known], values[known], trained[known]


def real_counts(model, people, values, trained):
    out = np.zeros((len(people), len(model.classes) + 1), dtype=np.int64)
    position = {c: i for i, c in enumerate(model.classes)}
    for q, value, inside in zip(people.of_line, values.tolist(), trained, strict=True):
        if inside:
            out[q, position[value]] += 1
            out[q, -1] += 1
    return out


@given(seed=st.integers(0, 2000), criterion=st.sampled_from(["gini", "entropy", "gain_ratio"]))
@settings(max_examples=30)
def test_the_truth_is_inside_the_bounds_and_shares_add_up(seed, criterion):
    model, register, values, trained = chosen(seed, criterion)
    found = disclosure_from_register(model, register)
    real = real_counts(model, known_people(model, register), values, trained)
    bounds = found.bounds.to_numpy().reshape(len(real), -1, 2)
    assert (bounds[:, :, 0] <= real).all()
    assert (real <= bounds[:, :, 1]).all()
    assert found.in_training.between(0, 1 + 1e-9).all()
    np.testing.assert_allclose(found.value.sum(axis=1), 1, atol=1e-6)
    expected = found.in_training.to_numpy() * known_people(model, register).number
    assert expected.sum() == pytest.approx(trained.sum(), abs=1e-4)
    assert found.exact


def test_bounds_are_what_counting_gives():
    table = pd.DataFrame({"a": [0, 0, 0, 1, 1], "b": [0, 0, 1, 0, 1]})
    learner = DecisionTreeClassifier(max_depth=1).fit(table.iloc[[0, 2, 3]], [0, 1, 1])
    model = gl.read(learner)
    people = known_people(model, table)
    problem, outside = register_problem(model, people)
    assert not outside.size
    least, most = register_bounds(problem)
    # Every person is out, or in with one of two values.
    states = np.array([[0, 0, 0], [1, 0, 1], [0, 1, 1]])
    worlds = []
    for choice in itertools.product(range(3), repeat=len(table)):
        world = np.zeros((len(people), 3), dtype=np.int64)
        np.add.at(world, people.of_line, states[list(choice)])
        world = world[problem.order]
        counts = np.array([world[problem.leaf == one, :2].sum(axis=0)
                           for one in range(len(problem.leaf_size))])  # fmt: skip
        if (counts == problem.leaf_counts).all():
            worlds.append(world)
    np.testing.assert_array_equal(least, np.min(worlds, axis=0))
    np.testing.assert_array_equal(most, np.max(worlds, axis=0))


def test_everybody_in_the_training_set_is_the_case_of_the_paper():
    model, register, values, _ = chosen(3, share=2.0)
    found = disclosure_from_register(model, register)
    plain = gl.disclosure(model, register, truth=values)
    np.testing.assert_allclose(found.in_training, 1, atol=1e-7)
    np.testing.assert_allclose(found.posterior, plain.posterior, atol=1e-4)
    np.testing.assert_array_equal(
        found.bounds.to_numpy()[:, :-2],
        gl.disclosure(model, register, bounds="leaves").bounds.to_numpy(),
    )


def test_split_facts_bind_as_an_independent_solver_has_it():
    cp = cvxpy()
    bound = 0
    for seed in range(140):
        criterion = ("gini", "entropy")[seed % 2]
        model, register, _, _ = chosen(seed, criterion, n_rows=14, share=0.8)
        found = disclosure_from_register(model, register)
        if not found.certificate.active:
            continue
        bound += 1
        people = known_people(model, register)
        problem, _ = register_problem(model, people)
        k = cp.Variable((len(problem.number), problem.n_classes), nonneg=True)
        out = cp.Variable(len(problem.number), nonneg=True)
        facts = [cp.sum(k, axis=1) + out == problem.number]
        facts += [
            cp.sum(k[problem.leaf == one], axis=0) == problem.leaf_counts[one]
            for one in range(len(problem.leaf_size))
        ]
        for node in problem.nodes:
            own = sum(
                impurity(problem.leaf_counts[np.unique(problem.leaf[a:b])].sum(axis=0), criterion)
                for a, b in node.branches
            )
            inside = np.arange(node.start, node.stop)
            n = int(problem.leaf_counts[np.unique(problem.leaf[inside])].sum())
            for column in range(problem.values.shape[1]):
                if column in node.used or column == node.column:
                    continue
                terms = []
                for value in np.unique(problem.values[inside, column]):
                    group = inside[problem.values[inside, column] == value]
                    for x in range(problem.n_classes):
                        mass, size = cp.sum(k[group, x]), cp.sum(k[group])
                        terms.append(
                            cp.quad_over_lin(mass, size) if criterion == "gini"
                            else cp.rel_entr(mass, size)
                        )  # fmt: skip
                most = n - own if criterion == "gini" else -own
                facts.append(sum(terms) <= most + 1e-9 * n)
        gain = cp.sum(cp.entr(k)) + cp.sum(cp.entr(out))
        gain += cp.sum(cp.multiply(np.log(problem.number), cp.sum(k, axis=1) + out))
        cp.Problem(cp.Maximize(gain), facts).solve(solver="CLARABEL")
        ours = found.posterior.fillna(0).to_numpy() * found.in_training.to_numpy()[:, None]
        ours = (ours * people.number[:, None])[problem.order]
        np.testing.assert_allclose(ours, k.value, atol=2e-3)
        if bound == 3:
            return
    pytest.fail("split facts hardly ever mattered")


def test_who_takes_a_branch_nobody_took_was_not_there():
    table = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "u"]})
    model = gl.read(ID3Classifier().fit(table, [0, 1, 1, 1]))
    register = pd.concat([table, pd.DataFrame({"a": ["y"], "b": ["v"]})], ignore_index=True)
    found = disclosure_from_register(model, register)
    assert len(found.posterior) == 4
    assert repr(found).startswith("<RegisterDisclosure")


def test_what_is_refused():
    model, register, values, trained = chosen(1)
    with pytest.raises(SchemaError, match="somebody is missing"):
        disclosure_from_register(model, register.iloc[:4])
    rows = RandomForestClassifier(2, bootstrap=False).fit(register, values)
    with pytest.raises(UnsupportedModelError, match="single tree"):
        disclosure_from_register(gl.read(rows), register)
    assert trained.any()


def test_a_smallest_leaf_leaves_split_facts_out():
    model, register, values, trained = chosen(2)
    learner = DecisionTreeClassifier(max_depth=2, min_samples_leaf=3, random_state=0)
    tree = gl.read(learner.fit(register[trained], values[trained]))
    found = disclosure_from_register(tree, register)
    assert any("left out" in note for note in found.assumptions)
    assert found.certificate.kind == "closed form"
    assert model.n_rows == tree.n_rows
