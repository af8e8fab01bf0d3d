"""The fix: copies of models that predict the same and carry less about their training rows."""

from glassleak.sanitise._effects import (
    Effect,
    Setting,
    effects,
    private_effect,
    retrained,
    standard_options,
)
from glassleak.sanitise._load import load_estimator
from glassleak.sanitise._options import Options
from glassleak.sanitise._probe import Agreement, agreement
from glassleak.sanitise._result import Sanitised
from glassleak.sanitise._sanitise import sanitise, sanitised

__all__ = [
    "Agreement",
    "Effect",
    "Options",
    "Sanitised",
    "Setting",
    "agreement",
    "effects",
    "load_estimator",
    "private_effect",
    "retrained",
    "sanitise",
    "sanitised",
    "standard_options",
]
