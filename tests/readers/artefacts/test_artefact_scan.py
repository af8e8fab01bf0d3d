"""The scan as a whole: order, grouping, cycles, size, hostile values."""

from __future__ import annotations

import itertools
import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from glassleak.readers._live import state_of
from glassleak.readers._state import Reference, State
from glassleak.readers.artefacts import Artefact, scan


def test_gravest_first_then_by_place(data, scanned) -> None:
    forest = RandomForestClassifier(3, oob_score=True).fit(data.X, data.y)
    model = make_pipeline(StandardScaler(), MinMaxScaler(), forest).fit(data.X, data.y)
    model.b_table, model.a_table = data.X, data.X.copy()
    found = scanned(model).all
    ranks = [["refer", "fix", "note"].index(a.severity) for a in found]
    assert ranks == sorted(ranks)
    assert set(ranks) == {0, 1, 2}
    for severity in ("refer", "fix", "note"):
        places = [a.where for a in found if a.severity == severity]
        assert places == sorted(places)
    assert [a.where for a in found[:2]] == ["Pipeline.a_table", "Pipeline.b_table"]


def test_every_finding_is_json(data, scanned) -> None:
    forest = RandomForestClassifier(3, oob_score=True, class_weight="balanced")
    found = scanned(forest.fit(data.X, data.y)).all
    assert len(found) >= 2
    for artefact in found:
        text = json.dumps(artefact.to_document(), allow_nan=False)
        assert Artefact.from_document(json.loads(text)) == artefact


def test_equal_findings_of_many_nodes_are_one(data) -> None:
    masks = [
        State("imodels.tree.figs", "Node", {"idxs": np.arange(data.n) % (i + 2) == 0})
        for i in range(1000)
    ]
    for above, below in itertools.pairwise(masks):
        above.attributes["left"] = below
    (found,) = scan(State("imodels.tree.figs", "FIGSClassifier", {"trees_": masks[:1]}))
    assert found.evidence["occurrences"] == 1000
    assert found.where == "FIGSClassifier.trees_[0].idxs"
    assert "1,000 places" in found.reveals


def test_different_attributes_are_not_grouped(data) -> None:
    held = {"_n_samples": data.n, "a": data.X[:, 0], "b": data.X[:, 1]}
    assert [a.where for a in scan(State("sklearn.x", "M", held))] == ["M.a", "M.b"]


def test_cycles_and_shared_objects(data) -> None:
    root = State("sklearn.x", "M", {"_n_samples": data.n, "a": data.X[:, 0]})
    root.attributes.update(self=root, again=root.attributes["a"], loop=[root])
    root.attributes["loop"].append(root.attributes["loop"])
    array = np.empty(2, dtype=object)
    array[0] = array
    root.attributes["array"] = array
    (found,) = scan(root)
    assert found.where == "M.a"
    assert "occurrences" not in found.evidence


def test_a_cycle_inside_a_frame() -> None:
    frame = State("pandas", "DataFrame", {"values": np.zeros((3, 30))})
    frame.attributes["_item_cache"] = {"me": frame}
    after = State("sklearn.x", "M", {"_n_samples": 30, "t": frame, "u": np.arange(30.0)})
    assert {a.where for a in scan(after)} == {"M.t", "M.u"}


def test_neighbours_with_the_same_beginning_are_not_inside() -> None:
    frame = State("pandas", "DataFrame", {"values": np.zeros((3, 30))})
    held = {"_n_samples": 30, "t": frame, "t2": np.arange(30.0)}
    assert {a.where for a in scan(State("sklearn.x", "M", held))} == {"M.t", "M.t2"}


def test_a_thousand_trees_take_no_time(data) -> None:
    forest = RandomForestClassifier(1000, max_depth=3, oob_score=True, random_state=0)
    state = state_of(forest.fit(data.X, data.y))
    start = time.process_time()
    found = scan(state)
    assert time.process_time() - start < 2
    assert [a.kind for a in found] == ["bootstrap-seeds", "oob-scores"]
    assert found[0].evidence["trees_with_seed"] == 1000


def test_many_masks_of_many_rows_take_no_time() -> None:
    nodes = [State("imodels", "Node", {"idxs": np.zeros(200_000, bool)}) for _ in range(500)]
    start = time.process_time()
    (found,) = scan(State("imodels", "FIGS", {"trees_": nodes}))
    assert time.process_time() - start < 2
    assert found.evidence["occurrences"] == 500


@pytest.mark.parametrize("root", [None, 3, "text", [], {}, np.zeros(3), Reference("numpy", "x")])
def test_roots_that_are_no_model(root) -> None:
    assert scan(root) == ()


def test_personal_keys_are_not_shown(data) -> None:
    held = {"_n_samples": data.n, "by": {"Jane O'Neill": data.X[:, 0], "x y": data.X[:, 1]}}
    found = scan(State("sklearn.x", "M", held))
    assert len(found) == 2
    assert all(a.where == "M.by['…']" for a in found)


def test_long_and_unprintable_paths_are_cut(data) -> None:
    held = {"_n_samples": data.n, "a" * 5000 + "\x07": data.X[:, 0]}
    (found,) = scan(State("sklearn.x", "M", held))
    assert len(found.where) < 250
    assert found.where.isprintable()


names = st.sampled_from(
    ["_n_samples", "estimators_", "_seeds", "bootstrap", "_sample_weight", "class_weight", "X_",
     "classes_", "oob_decision_function_", "categories_", "bin_thresholds_", "n_bins", "quantiles_",
     "cv_results_", "estimators_samples_", "support_vectors_", "_shape", "shape_fit_", "data_max_",
     "y_train_", "feature_infos", "random_state", "_infrequent_indices", "is_categorical_", "f_",
     "X_thresholds_", "idxs", "nodes", "feature_names_in_", "n_features_in_", "_max_samples",
     "pandas_categorical", "max_value", "values", "params", "__state__", "sample_weight"]
)  # fmt: skip
arrays = hnp.arrays(
    dtype=hnp.scalar_dtypes() | hnp.unicode_string_dtypes() | hnp.array_dtypes(),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
plain = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.integers(), st.floats(), st.text(max_size=5),
    st.binary(max_size=3), st.just("balanced"), st.just(Reference("os", "system")), arrays,
    st.just("tree\nfeature_infos=[0:1] none\npandas_categorical:[[1],[]]"),
)  # fmt: skip


def states(inner):
    kinds = st.sampled_from(
        [("sklearn.tree", "Tree"), ("pandas", "DataFrame"), ("scipy.sparse._csr", "csr_matrix"),
         ("sklearn.preprocessing", "MinMaxScaler"), ("sklearn.x", "QuantileTransformer"),
         ("builtins", "range"), ("sklearn.isotonic", "IsotonicRegression"), ("", ""),
         ("sklearn.neighbors", "KDTree")]
    )  # fmt: skip
    attributes = st.dictionaries(names, inner, max_size=6)
    return st.builds(
        lambda kind, held, args: State(*kind, held, tuple(args)),
        kinds, attributes, st.lists(inner, max_size=3),
    )  # fmt: skip


def object_array(items):
    out = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        out[i] = item
    return out


def nested(inner):
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(names | st.integers(0, 3), inner, max_size=4),
        states(inner),
        st.lists(inner, min_size=1, max_size=3).map(object_array),
    )


@given(states(st.recursive(plain, nested, max_leaves=20)))
@pytest.mark.filterwarnings("error")
def test_whatever_is_inside_the_answer_is_findings(root) -> None:
    for artefact in scan(root):
        assert Artefact.from_document(json.loads(json.dumps(artefact.to_document()))) == artefact
