"""Which profiles are possible, where the user did not say."""

from __future__ import annotations

from glassleak.audit._analysis import Subject
from glassleak.errors import SchemaError
from glassleak.knowledge import assumed_schema
from glassleak.models import Model
from glassleak.schema import Schema

_FROM_MODEL = (
    "which profiles are possible was inferred from the model alone (give a schema to be sure); "
    "where in doubt more were taken to be possible"
)
_FROM_DATA = "which profiles are possible was inferred from the training data (give a schema)"


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
    return assumed_schema(model), (_FROM_MODEL,)
