"""Fitted learners, live and in files: the list that is read is the list that was trained."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import imodels
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import glassleak as gl
from glassleak.errors import MalformedModelError
from glassleak.learners import GreedyRuleListClassifier, OptimalRuleListClassifier
from glassleak.models import RuleList
from glassleak.readers import open_model
from glassleak.readers._limits import Limits
from glassleak.readers._live import state_of
from glassleak.readers._state import State
from glassleak.readers.libraries._learners import read_learner

LEARNERS = [
    GreedyRuleListClassifier(4),
    GreedyRuleListClassifier(3, max_width=2, criterion="captured"),
    OptimalRuleListClassifier(3),
    OptimalRuleListClassifier(2, max_width=2, tie_break="least_leaky"),
]


def table(n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(size=n).round(2),
            "member": rng.integers(0, 2, n),
            "urban": rng.integers(0, 2, n),
        }
    )
    score = frame["income"] + frame["member"] - 0.02 * frame["age"] + rng.normal(size=n)
    return frame, np.array(["no", "yes"])[(score > -0.5).to_numpy().astype(int)]


@pytest.fixture(scope="module", params=LEARNERS, ids=str)
def fitted(request):
    return request.param.fit(*table())


def test_live(fitted):
    frame, labels = table()
    model = gl.read(fitted)
    assert isinstance(model, RuleList)
    assert model == fitted.to_model()
    assert model.columns == tuple(frame.columns)
    assert model.classes == ("no", "yes")
    assert model.provenance.estimator == type(fitted).__name__
    said = np.array([rule.prediction for rule in model.rules])[model.apply(frame.to_numpy())]
    np.testing.assert_array_equal(said, fitted.predict(frame))
    counts = np.zeros_like(fitted.counts_)
    np.add.at(counts, (model.apply(frame.to_numpy()), (labels == "yes").astype(int)), 1)
    np.testing.assert_array_equal(counts, model.counts.values)


def test_files_hold_the_list_and_no_rows(fitted, tmp_path):
    skops.io.dump(fitted, tmp_path / "list.skops")
    (tmp_path / "list.pkl").write_bytes(pickle.dumps(fitted))
    for name, trust in (("list.skops", "none"), ("list.pkl", "sandbox")):
        opened = open_model(tmp_path / name, trust=trust)
        assert opened.model == fitted.to_model()
        assert opened.artefacts == ()
    assert (tmp_path / "list.pkl").stat().st_size < 6000


def test_inside_pipelines_and_searches():
    frame, labels = table()
    learner = GreedyRuleListClassifier(3)
    alone = gl.read(GreedyRuleListClassifier(3).fit(frame, labels))
    piped = gl.read(Pipeline([("learner", learner)]).fit(frame, labels))
    assert piped == alone
    search = GridSearchCV(learner, {"max_length": [3]}, cv=2).fit(frame, labels)
    assert gl.read(search) == alone
    other = make_pipeline(StandardScaler(), imodels.GreedyRuleListClassifier(max_depth=2))
    assert isinstance(gl.read(other.fit(frame, (labels == "yes").astype(int))), RuleList)


def test_reading_does_not_import_the_learners(tmp_path):
    skops.io.dump(LEARNERS[0].fit(*table()), tmp_path / "list.skops")
    code = (
        "import sys; from glassleak.readers import read; "
        f"print(read({str(tmp_path / 'list.skops')!r})); "
        "sys.exit('glassleak.learners._base' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "RuleList" in done.stdout


def broken(**changes: object) -> State:
    state = copy.deepcopy(state_of(LEARNERS[0].fit(*table())))
    state.attributes.update(changes)
    return state


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"conditions_": None}, "conditions_"),
        ({"conditions_": [[]]}, "predictions_"),
        ({"predictions_": np.zeros(2)}, "predictions_"),
        ({"counts_": np.zeros((2, 2))}, "counts_"),
        ({"counts_": np.zeros((1, 2), dtype=int)}, "counts"),
        ({"counts_": "many"}, "counts_"),
        ({"classes_": None}, "classes_"),
        ({"n_features_in_": 3}, "feature_names_in_"),
        ({"predictions_": np.full(5, 7)}, "predictions_[0]"),
    ],
)
def test_damaged_lists_are_named(changes, place):
    with pytest.raises(MalformedModelError) as error:
        read_learner(broken(**changes), Limits())
    assert place in str(error.value)


@pytest.mark.parametrize(
    "condition",
    [
        (9, 0.0, 1.0),
        (0, 1.0, 1.0),
        (0, float("nan"), 1.0),
        (0, 1.0),
        "age",
        (0, "a", 1.0),
        (0.5, 0, 1),
        (True, 0.0, 1.0),
    ],
)
def test_damaged_conditions_are_named(condition):
    state = broken()
    state.attributes["conditions_"][1] = [condition]
    with pytest.raises(MalformedModelError, match=r"rules\[1\]|conditions_\[1\]"):
        read_learner(state, Limits())
