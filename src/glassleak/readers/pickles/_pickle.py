"""Decode a pickle or joblib dump into inert `State`, without importing or calling anything.

A pickle is a program for a small stack machine whose dangerous instructions name a callable and
have it called.  This machine runs the same program, but a name stays a `Reference`, and calling
one gives a `State` that records the name and the arguments.  The few constructors that hold data
(arrays, dtypes, dictionaries) are rebuilt by glassleak's own code in `_pickle_calls`.
"""

from __future__ import annotations

from typing import Any, BinaryIO, Final

from glassleak.errors import MalformedModelError, ModelError, ModelTooLargeError
from glassleak.readers._limits import Limits
from glassleak.readers.pickles._joblib import unpacked
from glassleak.readers.pickles._pickle_input import Budget, Input, check_extent
from glassleak.readers.pickles._pickle_machine import Machine

_CHUNK: Final = 1 << 20


def decode_pickle(file: BinaryIO, limits: Limits) -> Any:
    """What a pickle (protocols 0 to 5) or joblib dump holds, as inert data.

    Parameters
    ----------
    file : binary file
        Read from its current position to its end.
    limits : Limits
        Bounds on bytes, values and nesting.

    Returns
    -------
    State, plain value or array
        A tuple of them when several dumps follow each other in the file.

    Raises
    ------
    MalformedModelError
        Truncated, damaged or hostile; ``place`` gives the byte (after decompression).
    UnsupportedModelError
        A container or array type this reader does not know.
    ModelTooLargeError
        A limit would be exceeded.
    """
    source = Input(unpacked(_read(file, limits.file_bytes), limits))
    budget = Budget(limits)
    found = [_decode_one(source, budget, limits)]
    while source.left:
        found.append(_decode_one(source, budget, limits))
    root = found[0] if len(found) == 1 else tuple(found)
    check_extent(root, limits)
    return root


def _read(file: BinaryIO, most: int) -> bytearray:
    # In pieces: asking for "at most so many bytes" would reserve as many.
    raw = bytearray()
    while piece := file.read(_CHUNK):
        raw += piece
        if len(raw) > most:
            raise ModelTooLargeError(f"more than {most:,} bytes", "file")
    return raw


def _decode_one(source: Input, budget: Budget, limits: Limits) -> Any:
    machine = Machine(source, budget, limits)
    try:
        return machine.run()
    except ModelError as error:
        if error.place is not None:
            raise
        raise type(error)(error.message, f"byte {machine.at}") from None
    except MemoryError:  # says something about the machine, or about the sandbox's limit
        raise
    # A damaged program underflows the stack, mistypes operands, and so on; all of it means one
    # thing, and no exception of Python's or numpy's may get out.
    except Exception as error:
        raise MalformedModelError(
            f"not a valid pickle ({type(error).__name__})", f"byte {machine.at}"
        ) from None
