"""From inert state to the IR and the artefact findings: the same for every container."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from glassleak.errors import ModelTooLargeError, UnsupportedModelError
from glassleak.models import Model
from glassleak.readers._limits import Limits
from glassleak.readers._state import State
from glassleak.readers.artefacts import Artefact, scan
from glassleak.readers.libraries._corels_state import read_corels_state
from glassleak.readers.libraries._imodels import read_imodels
from glassleak.readers.libraries._learners import read_learner
from glassleak.readers.libraries._lightgbm import read_lightgbm_state
from glassleak.readers.libraries._sklearn import read_sklearn
from glassleak.readers.libraries._xgboost import read_xgboost_state

# One reader per library, chosen by the package a class claims to come from.
READERS: dict[str, Callable[[State, Limits], Model]] = {
    "corels": read_corels_state,
    "glassleak": read_learner,
    "sklearn": read_sklearn,
    "imodels": read_imodels,
    "lightgbm": read_lightgbm_state,
    "xgboost": read_xgboost_state,
}


@dataclass(frozen=True)
class Interpretation:
    """What a container held.

    Attributes
    ----------
    model : Model or None
    problem : UnsupportedModelError or None
        Why there is no model.
    artefacts : tuple of Artefact
        What the object retains about rows, supported or not.
    """

    model: Model | None
    problem: UnsupportedModelError | None
    artefacts: tuple[Artefact, ...]


def interpret(root: Any, limits: Limits) -> Interpretation:
    """Read the model in `root` and scan it for retained rows.

    Malformed models raise; unsupported ones are returned as a `problem`, because what they retain
    is worth reporting all the same.
    """
    model: Model | None = None
    problem: UnsupportedModelError | None = None
    try:
        try:
            model = _read(root, limits)
        except UnsupportedModelError as error:
            problem = error
        return Interpretation(model, problem, scan(root, model))
    except RecursionError:
        raise ModelTooLargeError("nested too deeply") from None
    except MemoryError:
        raise ModelTooLargeError("takes more memory than there is") from None


def _read(root: Any, limits: Limits) -> Model:
    if not isinstance(root, State):
        raise UnsupportedModelError(f"{type(root).__name__} is not a fitted model")
    reader = READERS.get(root.package)
    if reader is None:
        raise UnsupportedModelError(f"{root.type_name} is from a library glassleak does not read")
    return reader(root, limits)
