"""What the names of attributes say: which hold rows of a table, and which its target."""

from __future__ import annotations

import re

from glassleak.readers._state import State

_PART = r"(?:train|training|fit|val|valid|validation|test|eval|raw|orig|original|input)"
_TABLE = re.compile(
    rf"^_*(?:[xX](?:_?{_PART})?|{_PART}_?(?:[xX]|data|df|frame|table|rows)|df|dataframe|dataset)_*$"
)
_TARGET = re.compile(
    rf"^_*(?:[yY](?:_?{_PART})?|{_PART}_?(?:[yY]|labels?|targets?)|labels?|targets?)_*$"
)
_TRAINING = re.compile(
    r"^_*(?:[xX]_?(?:train|training|fit)|(?:train|training|fit)_?(?:[xX]|data|df|frame|table))_*$"
)
# Numerical helpers whose x and y are knots of a curve and not rows of a table.
_HELPERS = {"scipy", "numpy"}


def is_table(name: str, owner: State | None) -> bool:
    """Whether an attribute of this name holds rows of input columns."""
    return _TABLE.match(name) is not None and not _is_helper(owner)


def is_target(name: str, owner: State | None) -> bool:
    """Whether an attribute of this name holds the target of each row."""
    # Clusterings call the cluster of each row labels_; it is a result, the target is not.
    return name != "labels_" and _TARGET.match(name) is not None and not _is_helper(owner)


def is_training_table(name: str, owner: State | None) -> bool:
    """Whether the name leaves no doubt that the rows are the training rows."""
    return _TRAINING.match(name) is not None and not _is_helper(owner)


def _is_helper(owner: State | None) -> bool:
    return owner is not None and owner.package in _HELPERS
