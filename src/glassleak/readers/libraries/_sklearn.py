"""Which scikit-learn models are read, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable

from glassleak.errors import MalformedModelError, UnsupportedModelError
from glassleak.models import Model
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.libraries._imodels import read_imodels
from glassleak.readers.libraries._learners import read_learner
from glassleak.readers.libraries._sklearn_boosting import read_gradient_boosting
from glassleak.readers.libraries._sklearn_forest import (
    read_bagging_classifier,
    read_bagging_regressor,
    read_forest_classifier,
    read_forest_regressor,
)
from glassleak.readers.libraries._sklearn_tree import read_tree_classifier, read_tree_regressor

_READERS: dict[str, Callable[[State, Limits], Model]] = {
    "DecisionTreeClassifier": read_tree_classifier,
    "ExtraTreeClassifier": read_tree_classifier,
    "RandomForestClassifier": read_forest_classifier,
    "ExtraTreesClassifier": read_forest_classifier,
    "BaggingClassifier": read_bagging_classifier,
    "DecisionTreeRegressor": read_tree_regressor,
    "ExtraTreeRegressor": read_tree_regressor,
    "RandomForestRegressor": read_forest_regressor,
    "ExtraTreesRegressor": read_forest_regressor,
    "BaggingRegressor": read_bagging_regressor,
    "GradientBoostingClassifier": read_gradient_boosting,
    "GradientBoostingRegressor": read_gradient_boosting,
}
# Estimators of other libraries that pipelines and searches may end in.
_OTHERS: dict[str, Callable[[State, Limits], Model]] = {
    "glassleak": read_learner,
    "imodels": read_imodels,
}
_SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
_REASONS = {
    "HistGradientBoosting": "a boosted model; its leaves hold sums of gradients",
    "AdaBoost": "a boosted model; every tree was trained on differently weighted rows",
    "IsolationForest": "an anomaly detector; it has no classes",
    "Regressor": "a regression model of a kind that is not read",
}


def read_sklearn(state: State, limits: Limits) -> Model:
    """The IR of a scikit-learn estimator given as `State`."""
    # A wrapper may wrap a wrapper; a hostile file may make one wrap itself.
    for _ in range(20):
        if state.package in _OTHERS:
            return _OTHERS[state.package](state, limits)
        reader = _READERS.get(state.name)
        if reader is not None:
            return reader(state, limits)
        if state.name in _SEARCHES:
            state = _inner(state, "best_estimator_")
        elif state.name == "Pipeline":
            state = _last_step(state)
        else:
            break
    for part, reason in _REASONS.items():
        if part in state.name:
            raise UnsupportedModelError(f"{state.name} is {reason}")
    raise UnsupportedModelError(f"{state.type_name} is no tree or rule model glassleak reads")


def _inner(state: State, name: str) -> State:
    inner = state.get(name)
    if not isinstance(inner, State):
        raise MalformedModelError("no trained model in it", f"{state.name}.{name}")
    return inner


def _last_step(state: State) -> State:
    """The last step decides; its columns are those the earlier steps produce."""
    steps = state.get("steps")
    last = steps[-1] if isinstance(steps, list) and steps else None
    if not isinstance(last, tuple | list) or len(last) != 2 or not isinstance(last[1], State):
        raise MalformedModelError("no final model in it", "Pipeline.steps")
    if last[1].package not in ("sklearn", *_OTHERS):
        raise UnsupportedModelError(f"the pipeline ends in {last[1].type_name}")
    return last[1]
