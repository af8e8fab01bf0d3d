"""Models of other libraries: only the training rows they retain are taken out.

What they retain is found by the artefact scan, set to ``None`` on a copy, wherever objects of the
same class hold it, and the copy is asked whether it still predicts the same.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import SanitiseError, UnsupportedModelError
from glassleak.readers import Artefact, open_model
from glassleak.sanitise._options import Options
from glassleak.sanitise._parts import Removed
from glassleak.sanitise._result import Sanitised, result

PACKAGES = ("imodels", "pystreed")
_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]")
_ROUNDS = 10
_PROBES = 500
_LEAVES = "what they said: of this library's models only retained rows are taken out"


def strip_rows(estimator: Any, options: Options) -> Sanitised:
    """A copy without the rows, masks, labels and weights it retains."""
    name = type(estimator).__name__
    if options.changes:
        raise SanitiseError(f"of a {name} only retained rows can be taken out")
    if not hasattr(estimator, "n_features_in_"):
        raise UnsupportedModelError("it has not been trained", name)
    made, removed = _copied(estimator), Removed()
    for _ in range(_ROUNDS):
        kept = _retained(made)
        if not kept:
            break
        for artefact in kept:
            _clear(made, artefact, removed)
    else:
        raise UnsupportedModelError("retains rows at places that cannot be cleared", name)
    checked = _same_answers(estimator, made, options)
    return result(made, options, removed, _LEAVES, f"checked on {checked:,} inputs")


def _copied(estimator: Any) -> Any:
    try:
        return copy.deepcopy(estimator)
    except Exception:  # parts in other languages; then its own attributes are what can be cleared
        return copy.copy(estimator)


def _retained(model: Any) -> list[Artefact]:
    return [a for a in open_model(model).artefacts if a.severity != "note"]


def _clear(model: Any, artefact: Artefact, removed: Removed) -> None:
    """Set the attribute to ``None`` on every object of the class that holds it."""
    steps = list(_STEP.finditer(artefact.where))
    names = [i for i, step in enumerate(steps) if step[1]]
    if not names:
        raise UnsupportedModelError(f"cannot be cleared ({artefact.kind})", artefact.where)
    owner = model
    for step in steps[: names[-1]]:
        owner = getattr(owner, step[1], None) if step[1] else _item(owner, int(step[2]))
    attribute = steps[names[-1]][1]
    if getattr(owner, attribute, None) is None:
        raise UnsupportedModelError(f"cannot be cleared ({artefact.kind})", artefact.where)
    for part in parts_of(model):
        if type(part) is type(owner) and vars(part).get(attribute) is not None:
            setattr(part, attribute, None)
            removed.add(f"{type(owner).__name__}.{attribute}")


def _item(holder: Any, position: int) -> Any:
    return holder[position] if isinstance(holder, list | tuple) else None


def parts_of(model: Any) -> Iterator[Any]:
    """Every object with attributes that can be reached from `model`."""
    seen: set[int] = set()
    stack = [model]
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, type):
            continue
        seen.add(id(value))
        if isinstance(value, list | tuple | set):
            stack.extend(value)
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif hasattr(value, "__dict__") and not callable(value):
            yield value
            stack.extend(vars(value).values())


def _same_answers(one: Any, other: Any, options: Options) -> int:
    # STreeD looks into the training table for probabilities, though not for labels.
    methods = ("predict", "predict_proba") if options.keeps_scores else ("predict",)
    random = np.random.default_rng(0)
    width = int(one.n_features_in_)
    tables = (
        random.integers(0, 2, (_PROBES, width)),
        random.normal(0, 2, (_PROBES, width)),
    )
    compared = 0
    for table in tables:
        before = _answers(one, table, methods)
        if before is None:  # models of zeros and ones refuse other numbers
            continue
        after = _answers(other, table, methods)
        if after is None or not all(map(np.array_equal, before, after)):
            raise UnsupportedModelError(
                "does not predict the same without what it retains", type(one).__name__
            )
        compared += len(table)
    if not compared:
        raise UnsupportedModelError("could not be asked for predictions", type(one).__name__)
    return compared


def _answers(
    model: Any, table: npt.NDArray[Any], methods: tuple[str, ...]
) -> list[npt.NDArray[Any]] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [np.asarray(getattr(model, method)(table)) for method in methods]
    except Exception:  # whatever the library raises, there is no answer
        return None
