"""The child side of the sandbox: lock down, decode symbolically, answer in JSON, end.

Started by `_sandbox` with the model as standard input.  Everything it needs is imported before it
locks itself down; after that it opens nothing, starts nothing and imports nothing.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
import warnings
from typing import Any, BinaryIO, Final

from glassleak.errors import ModelError
from glassleak.models import model_document
from glassleak.readers._interpret import interpret
from glassleak.readers._limits import Limits
from glassleak.readers.pickles._pickle import decode_pickle
from glassleak.readers.sandbox._sandbox_lock import MEMORY_EXIT, lock_down

_MODEL_FD: Final = 0
_ANSWER_FD: Final = 1
_TEXT: Final = 2000
_CHUNK: Final = 1 << 20
_CODECS: Final = ("ascii", "latin-1", "utf-8", "raw-unicode-escape", "unicode-escape")


def main() -> None:
    """Read the model on standard input and answer on standard output."""
    try:
        limits = Limits(**json.loads(sys.argv[-1]))
        # Codecs are modules, loaded when first used; a warning would look for source files.
        for name in _CODECS:
            codecs.lookup(name)
        warnings.simplefilter("ignore")
        file = open(_MODEL_FD, "rb", closefd=False)  # noqa: SIM115 - a descriptor
        protection = lock_down(limits)
        # Sent before the first byte of the file is looked at, so that the file cannot lie about it.
        _send(_line({"protection": list(protection)}))
        _send(answer(file, limits))
    except MemoryError:
        os._exit(MEMORY_EXIT)
    os._exit(0)  # nothing is worth tidying up, and less code runs


def answer(file: BinaryIO, limits: Limits) -> bytes:
    """The answer to the parent: a model document and findings, or an error by name."""
    try:
        found = interpret(decode_pickle(file, limits), limits)
        problem = found.problem
        return _line(
            {
                "model": None if found.model is None else model_document(found.model, packed=True),
                "problem": None if problem is None else _described(problem),
                "artefacts": [artefact.to_document() for artefact in found.artefacts],
                "error": None,
            }
        )
    except ModelError as error:
        return _line({"error": {"type": type(error).__name__, **_described(error)}})
    except MemoryError:
        raise
    # A fault of a reader must reach the parent as one; a traceback would open source files.
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return _line({"error": {"type": "Exception", "message": message[:_TEXT], "place": None}})


def _described(error: ModelError) -> dict[str, str | None]:
    place = None if error.place is None else error.place[:_TEXT]
    return {"message": error.message[:_TEXT], "place": place}


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def _send(line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(_ANSWER_FD, rest[:_CHUNK]) :]
