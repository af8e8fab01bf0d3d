"""Trees with one branch per level: what they check, how they find a leaf, and their JSON."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import glassleak as gl
from glassleak.errors import (
    InconsistentModelError,
    MalformedModelError,
    SchemaError,
    UnsupportedModelError,
)
from glassleak.knowledge import Known, published
from glassleak.models import Exact, Missing, MultiwayTree, Provenance

COLUMNS = ("Education", "Country", "Gender")
LEVELS = (("Masters", "Doctorate"), ("USA", "Canada"), ("Female", "Male"))
# The tree of Figure 1 of the maximum-entropy paper, grown from its table D1.
FIGURE_1 = {
    "columns": COLUMNS,
    "classes": ("<=50K", ">50K"),
    "levels": LEVELS,
    "feature": [0, 1, 2, -1, 2, -1, -1, -1, -1],
    "parent": [-1, 0, 0, 1, 1, 2, 2, 4, 4],
    "branch": [-1, 0, 1, 0, 1, 0, 1, 0, 1],
    "counts": Exact(
        np.array([[5, 6], [4, 2], [1, 4], [1, 1], [3, 1], [0, 3], [1, 1], [1, 1], [2, 0]])
    ),
}
D1 = pd.DataFrame(
    [
        ("Masters", "USA", "Female", "<=50K"),
        ("Masters", "USA", "Male", ">50K"),
        ("Masters", "Canada", "Male", "<=50K"),
        ("Masters", "Canada", "Male", "<=50K"),
        ("Masters", "Canada", "Female", "<=50K"),
        ("Masters", "Canada", "Female", ">50K"),
        ("Doctorate", "Canada", "Female", ">50K"),
        ("Doctorate", "Canada", "Female", ">50K"),
        ("Doctorate", "USA", "Male", "<=50K"),
        ("Doctorate", "USA", "Male", ">50K"),
        ("Doctorate", "USA", "Female", ">50K"),
    ],
    columns=[*COLUMNS, "Salary"],
)


def figure_1(**changes) -> MultiwayTree:
    return MultiwayTree(**(FIGURE_1 | changes))


def test_leaves_and_counts_of_the_papers_tree():
    tree = figure_1()
    leaf = tree.apply(tree.encode(D1))
    label = (D1["Salary"] == ">50K").astype(int)
    found = np.zeros((tree.n_nodes, 2), dtype=int)
    np.add.at(found, (leaf, label), 1)
    np.testing.assert_array_equal(found[tree.leaves], tree.counts.values[tree.leaves])
    assert (tree.n_rows, tree.depth, tree.n_leaves) == (11, 3, 5)


@pytest.mark.parametrize("packed", [False, True])
def test_json_and_back(packed):
    tree = figure_1(
        label=[-1, -1, -1, 0, -1, 1, 1, 0, 0],
        errors=[-1, -1, -1, 1, -1, 0, 1, 1, 0],
        provenance=Provenance(estimator="ID3", settings={"criterion": "entropy"}),
    )
    assert gl.read(tree.to_json(packed=packed)) == tree
    assert gl.read(tree) is tree


def test_labels_and_rates_alone_and_back():
    tree = figure_1(
        counts=Missing("labels only"),
        label=[-1, -1, -1, 0, -1, 1, 1, 0, 0],
        rows=[11, 6, 5, 2, 4, 3, 2, 2, 2],
        errors=[-1, -1, -1, 1, -1, 0, 1, 1, 0],
    )
    assert gl.read(tree.to_json()) == tree
    assert tree.n_rows == 11


def test_a_level_without_branch_leads_nowhere():
    tree = figure_1(levels=(LEVELS[0], (*LEVELS[1], "France"), LEVELS[2]))
    assert tree.apply([[0, 2, 0], [1, 2, 0], [9, 0, 0], [-1, 0, 0]]).tolist() == [-1, 5, -1, -1]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"feature": [0, 1, 2, -1, 3, -1, -1, -1, -1]}, "feature[4]"),
        ({"parent": [-1, 0, 0, 1, 1, 2, 2, 4, 3]}, "parent[8]"),
        ({"parent": [-1, 0, 0, 1, 1, 2, 2, 4, 99]}, "parent[8]"),
        ({"parent": [0, 0, 0, 1, 1, 2, 2, 4, 4]}, "parent[0]"),
        ({"branch": [-1, 0, 1, 0, 1, 0, 1, 0, 0]}, "branch[8]"),
        ({"branch": [-1, 0, 1, 0, 1, 0, 1, 0, 2]}, "branch[8]"),
        ({"branch": [-1, 0]}, "branch"),
        ({"feature": []}, "feature"),
        ({"levels": LEVELS[:2]}, "levels"),
        ({"levels": (("Masters", "Masters"), *LEVELS[1:])}, "levels[0]"),
        ({"levels": (("Masters", float("nan")), *LEVELS[1:])}, "levels[0]"),
        ({"label": [0] * 8 + [7]}, "label[8]"),
        ({"counts": Missing(""), "errors": [0] * 9}, "errors"),
    ],
)
def test_malformed(changes, place):
    with pytest.raises(MalformedModelError) as error:
        figure_1(**changes)
    assert error.value.place == place


def test_a_cycle_is_found():
    with pytest.raises(MalformedModelError, match="the root does not reach"):
        figure_1(
            feature=[0, -1, 1, 1], parent=[-1, 0, 3, 2], branch=[-1, 0, 0, 0],
            counts=Missing("none"),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"counts": Exact(np.ones((9, 2), dtype=int))}, "counts[0]"),
        ({"rows": [11, 6, 5, 2, 4, 3, 2, 3, 1]}, "rows[7]"),
        ({"label": [-1] * 7 + [0, 1]}, "label[8]"),
        ({"label": [0] * 9, "errors": [-1] * 8 + [1]}, "label[5]"),
        ({"errors": [12] + [0] * 8}, "errors[0]"),
        ({"n_rows": 12}, "n_rows"),
    ],
)
def test_inconsistent(changes, place):
    with pytest.raises(InconsistentModelError) as error:
        figure_1(**changes)
    assert error.value.place == place


def test_json_of_strangers():
    good = json.loads(figure_1().to_json())
    for name, value in (
        ("levels", None),
        ("levels", [1, 2, 3]),
        ("levels", [[["x"]], [], []]),
        ("parent", "x"),
        ("parent", [0.5] * 9),
        ("branch", [2**40] * 9),
        ("counts", {"kind": "exact", "values": [[1]]}),
    ):
        with pytest.raises(MalformedModelError):
            gl.read(good | {name: value})


def test_tables_that_do_not_fit():
    tree = figure_1()
    with pytest.raises(SchemaError, match="no column"):
        tree.encode(D1.drop(columns="Gender"))
    with pytest.raises(SchemaError, match="no level"):
        tree.encode(D1.assign(Gender=None))
    with pytest.raises(SchemaError, match="no level"):
        tree.encode(D1.assign(Gender=[["x"]] * len(D1)))
    with pytest.raises(ValueError, match="level codes"):
        tree.apply([[0.5, 0, 0]])
    with pytest.raises(ValueError, match="columns"):
        tree.apply([[0, 0]])


def test_as_yes_or_no_tests():
    levels = (LEVELS[0], ("Chile", *LEVELS[1], "France"), ("other", *LEVELS[2]))
    tree = figure_1(levels=levels, branch=[-1, 0, 1, 1, 2, 1, 2, 1, 2])
    (part,) = published(tree).parts
    codes = np.array([[a, b, c] for a in range(2) for b in range(4) for c in range(3)])
    leaf = tree.apply(codes)
    expected = [f"leaf {i}" if i >= 0 else "no branch" for i in leaf]
    assert [part.groups[g] for g in part.assign(codes.astype(float))] == expected
    assert part.counts.sum() == 11


def test_reconstruction_sees_the_counts():
    tree = figure_1()
    schema = gl.Schema([gl.Ordinal(c, low=0, high=1) for c in COLUMNS])
    found = gl.reconstruct(tree, schema, budget_seconds=20)
    leaf = tree.apply(found.table.to_numpy())
    counts = np.zeros((tree.n_nodes, 2), dtype=int)
    np.add.at(counts, (leaf, [tree.classes.index(c) for c in found.labels]), 1)
    np.testing.assert_array_equal(counts[tree.leaves], tree.counts.values[tree.leaves])


def test_what_cannot_read_it_says_so():
    with pytest.raises(UnsupportedModelError):
        gl.reconstruct(figure_1(), known=Known(nodes={0: [0]}))
    with pytest.raises(UnsupportedModelError):
        gl.reconstruct(figure_1(counts=Missing("labels only")))


def test_the_audit_reads_the_groups():
    report = gl.audit(figure_1(), budget_seconds=20)
    shape = next(f for f in report.findings if f.id == "structure.shape")
    assert shape.evidence["groups"] == 5
    assert report.to_document()["model"]["kind"] == "MultiwayTree"
