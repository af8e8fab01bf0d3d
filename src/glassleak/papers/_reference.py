"""Where the authors' own runs are, when they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

from glassleak.errors import GlassleakError

REFERENCE = "GLASSLEAK_REFERENCE"


class MissingReferenceError(GlassleakError):
    """``GLASSLEAK_REFERENCE`` is set, and the authors' runs are not there."""


def reference_file(name: str) -> Path | None:
    """The file of that name; ``None`` if ``GLASSLEAK_REFERENCE`` is not set.

    It names the file itself, the folder it is in, or a folder with ``reference/`` in it.
    """
    root = os.environ.get(REFERENCE)
    if not root:
        return None
    places = (Path(root), Path(root) / name, Path(root) / "reference" / name)
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise MissingReferenceError(f"{REFERENCE} is set, but there is no {name} there")
    return found
