"""The parent side of the sandbox: start the worker, bound it, and believe nothing it says."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import glassleak
from glassleak.errors import (
    InconsistentModelError,
    MalformedModelError,
    ModelError,
    ModelTooLargeError,
    SandboxError,
    UnsupportedModelError,
)
from glassleak.models import Model, model_from_document
from glassleak.readers._limits import Limits
from glassleak.readers.artefacts import Artefact

# Of the child's two descriptors, errors are only looked at to explain a failure.
_MAX_COMPLAINT: Final = 4000
_MAX_TEXT: Final = 2000
_CHUNK: Final = 1 << 16
_OWN: Final = ("separate process", "wall-clock limit", "empty environment")
_ERRORS: Final[dict[str, type[ModelError]]] = {
    kind.__name__: kind
    for kind in (
        InconsistentModelError,
        MalformedModelError,
        ModelTooLargeError,
        UnsupportedModelError,
    )
}
# Isolated mode ignores PYTHONPATH and the working directory.  The worker must be of this very
# installation, wherever it lies; the parent's other paths only serve to find numpy.
_BOOT: Final = """\
import importlib.util, json, sys
place, paths = json.loads(sys.argv[1])
sys.path.extend(path for path in paths if path not in sys.path)
spec = importlib.util.spec_from_file_location(
    "glassleak", place + "/__init__.py", submodule_search_locations=[place])
package = importlib.util.module_from_spec(spec)
sys.modules["glassleak"] = package
spec.loader.exec_module(package)
from glassleak.readers._sandbox_worker import main
main()
"""


@dataclass(frozen=True)
class SandboxAnswer:
    """What came out of the sandbox.

    Attributes
    ----------
    model : Model or None
    problem : UnsupportedModelError or None
        Why there is no model.
    artefacts : tuple of Artefact
    protection : tuple of str
        What was in force, and what the platform did not offer.
    """

    model: Model | None
    problem: UnsupportedModelError | None
    artefacts: tuple[Artefact, ...]
    protection: tuple[str, ...]


def read_in_sandbox(path: Path, limits: Limits) -> SandboxAnswer:
    """Decode a pickle or joblib file in a locked-down, short-lived process.

    Parameters
    ----------
    path : Path
    limits : Limits
        Bounds on size, time and memory.

    Returns
    -------
    SandboxAnswer

    Raises
    ------
    MalformedModelError, ModelTooLargeError
        As found by the decoder or the reader in the child.
    SandboxError
        The child died, took too long, or answered nonsense; the message says which.
    """
    if not path.is_file():
        raise MalformedModelError("not a file", path.name)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > limits.file_bytes:
            raise ModelTooLargeError(f"{size:,} bytes, over {limits.file_bytes:,}", path.name)
        raw = _run(file, path.name, limits)
    return _answer(raw, path.name)
