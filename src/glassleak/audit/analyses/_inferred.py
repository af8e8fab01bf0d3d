"""Which profiles are possible, where the user did not say."""

from __future__ import annotations

from dataclasses import replace

from glassleak.audit._analysis import Subject
from glassleak.errors import SchemaError
from glassleak.models import Model
from glassleak.schema import Attribute, Numeric, Ordinal, Schema

_FROM_MODEL = (
    "which profiles are possible was inferred from the model alone (give a schema to be sure); "
    "where in doubt more were taken to be possible"
)
_FROM_DATA = "which profiles are possible was inferred from the training data (give a schema)"
# Steps beyond the outermost thresholds: nobody who sees a model alone would bet on one of them.
_ROOM = 100


def schema_for(subject: Subject, model: Model) -> tuple[Schema, tuple[str, ...]]:
    """The schema given, or one inferred, and what that assumes."""
    if subject.schema is not None:
        return subject.schema, ()
    data = subject.data
    if data is not None and set(model.columns) <= set(data.columns):
        try:
            return Schema.infer(data.loc[:, list(model.columns)]), (_FROM_DATA,)
        except SchemaError:  # dates, mixed types: the model still says something
            pass
    return widened(Schema.infer(model.split_evidence())), (_FROM_MODEL,)


def widened(schema: Schema) -> Schema:
    """Room beyond the outermost thresholds, where a model does not show how far values go.

    Without it everybody above the largest threshold would seem to have one and the same value.
    """
    wide: list[Attribute] = []
    for attribute in schema:
        if isinstance(attribute, Ordinal):
            wide.append(replace(attribute, low=attribute.low - _ROOM, high=attribute.high + _ROOM))
        elif isinstance(attribute, Numeric) and attribute.resolution is not None:
            room = _ROOM * attribute.resolution
            wide.append(replace(attribute, low=attribute.low - room, high=attribute.high + room))
        else:
            wide.append(attribute)
    return Schema(wide, schema.guesses)
