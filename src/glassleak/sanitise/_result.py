"""What `sanitised` hands over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from glassleak.sanitise._options import Options
from glassleak.sanitise._parts import Removed

BY_CONSTRUCTION = "by construction"


@dataclass(frozen=True)
class Sanitised:
    """A sanitised copy and what is known about it.

    Attributes
    ----------
    estimator : fitted estimator
    options : Options
    removed : tuple of str
        What was left behind.
    leaves : str
        What leaves still say.
    same : str
        Why ``predict`` (or what else was kept) stayed the same; empty if it may have changed.
    """

    estimator: Any
    options: Options
    removed: tuple[str, ...]
    leaves: str
    same: str


def result(
    made: Any, options: Options, removed: Removed, leaves: str, proof: str = BY_CONSTRUCTION
) -> Sanitised:
    """The outcome in words."""
    same = "" if options.changes else proof
    if same and options.schema is not None and proof != BY_CONSTRUCTION:
        return Sanitised(made, options, removed.listed(), leaves, f"{same}, for rows of the schema")
    if same and not options.missing_values:
        same += ", for rows without missing values"
    return Sanitised(made, options, removed.listed(), leaves, same)
