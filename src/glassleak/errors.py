"""The one exception tree of glassleak.

Everything the package raises on purpose derives from :class:`GlassleakError`, so that a caller
can catch one name.  Errors about a model carry ``place``: where in the file or object the problem
is (for instance ``trees[3].left[17]``), because "malformed" alone helps nobody.
"""

from __future__ import annotations

__all__ = [
    "AuditError",
    "BudgetExhaustedError",
    "DatasetUnavailableError",
    "GlassleakError",
    "InconsistentModelError",
    "MalformedModelError",
    "MissingExtraError",
    "ModelError",
    "ModelTooLargeError",
    "SandboxError",
    "SanitiseError",
    "SchemaError",
    "UnsupportedModelError",
    "UntrustedFileError",
]


class GlassleakError(Exception):
    """Base class of every error glassleak raises on purpose."""


class SchemaError(GlassleakError, ValueError):
    """A schema is wrong, or does not fit the table or model it is used with."""


class ModelError(GlassleakError):
    """A model cannot be used.

    Parameters
    ----------
    message : str
        What is wrong, in one sentence.
    place : str, optional
        Where: a path inside the file or object.
    """

    def __init__(self, message: str, place: str | None = None) -> None:
        super().__init__(message if place is None else f"{place}: {message}")
        self.message = message
        self.place = place


class UnsupportedModelError(ModelError):
    """The model is of a kind glassleak does not assess (which says nothing about its risk)."""


class MalformedModelError(ModelError, ValueError):
    """The file or object is not what it claims to be: truncated, mistyped, cyclic, NaN-ridden."""


class InconsistentModelError(MalformedModelError):
    """The parts are well formed but contradict each other, such as counts that do not add up."""


class ModelTooLargeError(ModelError):
    """Reading would exceed a limit (bytes, nodes, nesting) set in :class:`glassleak.Limits`."""


class UntrustedFileError(ModelError):
    """The file could run code when opened (pickle, joblib) and no sandbox was asked for."""


class SandboxError(ModelError):
    """The sandboxed process died, ran out of time or memory, or answered nonsense."""


class DatasetUnavailableError(GlassleakError):
    """A table is neither embedded nor cached, and could not be fetched."""


class MissingExtraError(GlassleakError, ImportError):
    """An optional dependency is needed; the message names the extra that brings it."""


class BudgetExhaustedError(GlassleakError):
    """The time given ended before there was any answer; more time may help."""


class AuditError(GlassleakError):
    """An audit was asked for in a way that cannot be carried out."""


class SanitiseError(GlassleakError, ValueError):
    """A sanitised copy was asked for that cannot be made."""
