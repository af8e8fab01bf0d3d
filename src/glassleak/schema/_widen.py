"""Room for numbers a model was trained on and does not show."""

from __future__ import annotations

from dataclasses import replace

from glassleak.schema._attributes import Attribute, Numeric, Ordinal
from glassleak.schema._checks import MAX_WHOLE
from glassleak.schema._schema import Schema

# Steps beyond the outermost thresholds: nobody who sees a model alone would bet on one of them.
_ROOM = 100


def widened(schema: Schema) -> Schema:
    """A schema inferred from a model, with room at both ends of every number.

    `Schema.infer` proposes the range of the thresholds, for somebody to correct.  Taken as it is,
    everybody above the largest threshold would seem to have one and the same value.  Numbers of
    unknown resolution have room already.
    """
    return Schema([_widened(attribute) for attribute in schema], schema.guesses)


def _widened(attribute: Attribute) -> Attribute:
    if isinstance(attribute, Ordinal):
        low, high = attribute.low - _ROOM, attribute.high + _ROOM
        return replace(attribute, low=max(low, -MAX_WHOLE), high=min(high, MAX_WHOLE))
    if isinstance(attribute, Numeric) and attribute.resolution is not None:
        room = _ROOM * attribute.resolution
        return replace(attribute, low=attribute.low - room, high=attribute.high + room)
    return attribute
