"""Many models at once: every model file of a folder audited, results kept as they come in."""

from glassleak.fleet._backends import BACKENDS, Backend
from glassleak.fleet._find import Found, find_models
from glassleak.fleet._fleet import Fleet, audit_folder, json_schema
from glassleak.fleet._one import Entry, Settings

__all__ = [
    "BACKENDS",
    "Backend",
    "Entry",
    "Fleet",
    "Found",
    "Settings",
    "audit_folder",
    "find_models",
    "json_schema",
]
