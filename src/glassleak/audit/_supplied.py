"""Whether what the user supplied fits together, before any time is spent."""

from __future__ import annotations

from glassleak.audit._analysis import Subject
from glassleak.errors import AuditError


def check_supplied(subject: Subject) -> None:
    """Raise `AuditError` for what cannot be meant.

    Tables that merely do not fit the model are no error here: the analyses that need them say so.
    """
    tables = {"data": subject.data, "holdout": subject.holdout}
    if subject.holdout is not None and subject.data is None:
        raise AuditError("a hold-out is compared with the training data: give both")
    if subject.target is not None:
        if subject.data is None:
            raise AuditError("a target column needs data to be in")
        for name, table in tables.items():
            if table is not None and subject.target not in table.columns:
                raise AuditError(f"{name} has no column {subject.target!r} (target)")
    model = subject.model
    for column in subject.quasi_identifiers or ():
        if model is not None and column not in model.columns:
            raise AuditError(f"the model has no column {column!r} (quasi-identifiers)")
