"""Parameters every private learner has, and the guarantee it gives."""

from __future__ import annotations

import numbers
import random
import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.learners._support import whole_number
from glassleak.learners.private._accountant import Accountant
from glassleak.learners.private._exact import Randomness, secure_randomness
from glassleak.learners.private._zcdp import epsilon_of
from glassleak.models import Provenance

# Below this there is nothing but noise, of more digits than a count can have.
LEAST_EPSILON = Fraction(1, 10**9)
NEIGHBOURS = "tables that differ by one person added or removed"


class PrivacyWarning(UserWarning):
    """The model works, but what was asked for takes its privacy away."""


class Unseeded:
    """Copies and files of a fitted model do not carry the seed of its noise.

    Whoever has the seed draws the same noise and takes it off.  Parameters must stay as given
    (`clone`, `get_params`), so the seed is dropped where the fitted object leaves the process.
    """

    random_state: Any

    def __getstate__(self) -> dict[str, Any]:
        kept: Any = super().__getstate__()
        state: dict[str, Any] = dict(kept)
        if "privacy_" in state:
            state["random_state"] = None
        return state


def declared(
    wanted: Sequence[Any] | None, found: npt.NDArray[Any], codes: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Classes and codes in the order of the declared classes, if there are any."""
    if wanted is None:
        return found, codes
    classes = np.unique(np.asarray(wanted))
    unknown = np.setdiff1d(found, classes)
    if unknown.size:
        raise ValueError(f"y holds classes that were not declared: {unknown.tolist()}")
    return classes, np.searchsorted(classes, found)[codes].astype(np.int64)


def guarantee(learner: Any, accountant: Accountant, delta: float = 0.0) -> dict[str, Any]:
    """What is promised, against what, and what must be true for it."""
    assumptions = ["names and bounds of the columns are public"]
    if learner.schema is None and learner.thresholds is None:
        assumptions.append("columns hold zeros and ones (cut at 0.5)")
    if learner.thresholds is not None:
        assumptions.append("the given thresholds were not computed from the data")
    if learner.classes is None:
        assumptions.append("the set of classes is public")
    if learner.random_state is not None:
        assumptions.append(
            "random_state stays secret and cannot be guessed (otherwise there is no protection)"
        )
    spent = float(accountant.spent)
    if accountant.unit == "rho":
        assumptions.append("with probability delta nothing is promised")
        cost = {"epsilon": epsilon_of(spent, delta), "delta": delta, "rho": spent}
    else:
        cost = {"epsilon": spent, "delta": 0.0}
    return {
        **cost,
        "neighbours": NEIGHBOURS,
        "certified": learner.random_state is None,
        "assumptions": assumptions,
    }


def without_seed(made: Provenance) -> Provenance:
    """Whoever has the seed can take the noise off, so it is not published."""
    settings = {k: v for k, v in made.settings.items() if k != "random_state"}
    return replace(made, settings=settings)


def exact_number(value: Any, name: str) -> Fraction:
    """A parameter as the fraction its digits say: 0.1 is a tenth."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} must be a number, got {value!r}")
    if isinstance(value, Fraction | int):
        exact = Fraction(value)
    elif np.isfinite(float(value)):
        exact = Fraction(repr(float(value)))
    else:
        raise ValueError(f"{name} must be finite, got {value!r}")
    if exact <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return exact


def budget(value: Any) -> Fraction:
    """`epsilon`, large enough for its noise to be written down."""
    epsilon = exact_number(value, "epsilon")
    if epsilon < LEAST_EPSILON:
        raise ValueError(f"epsilon must be at least {float(LEAST_EPSILON):g}, got {value!r}")
    return epsilon


def source_of(random_state: Any) -> Randomness:
    """The operating system's randomness; with a seed, repeatable noise and a `PrivacyWarning`."""
    if random_state is None:
        return secure_randomness()
    warnings.warn(
        "noise drawn with random_state can be drawn again and taken off, and seeds can be guessed: "
        "for experiments only, do not publish this model (random_state=None protects)",
        PrivacyWarning,
        stacklevel=3,
    )
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    # Asked for by name, and written into `privacy_` as not certified.
    return random.Random(whole_number(random_state, "random_state", 0))  # noqa: S311
