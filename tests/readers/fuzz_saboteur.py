"""A worker for the fuzzer in which reading goes wrong in every way it must notice."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import _worker

CALLS: list[int] = []


def sabotaged(kind: str, content: bytes, path: Path) -> str:
    CALLS.append(1)
    index = FIRST + len(CALLS) - WARM_UP - 1
    return WAYS[index]() if index in WAYS and len(CALLS) > WARM_UP else "read"


def _raise(error: BaseException) -> Any:
    raise error


def _fill() -> str:
    held = bytearray(700 * 1024 * 1024)
    held[::4096] = b"x" * len(held[::4096])
    return "read"


def _write() -> str:
    Path(os.environ["GLASSLEAK_CANARY"]).write_text("x")
    return "read"


WAYS = {
    0: lambda: _raise(KeyError("untyped")),
    1: lambda: _raise(RecursionError("deep")),
    2: lambda: str(os.system("true")),
    3: lambda: exec("1 + 1") or "read",
    4: lambda: __import__("tabnanny").__name__,
    5: _write,
    6: _fill,
    7: lambda: time.sleep(60) or "read",
    # The rest is for the process that follows the one that hung.
    9: lambda: os.kill(os.getpid(), signal.SIGSEGV) or "read",
}

if __name__ == "__main__":
    import pickle

    folder = Path(sys.argv[1])
    WARM_UP = len(pickle.loads((folder / "corpus.pickle").read_bytes()))
    FIRST, stop, step = map(int, sys.argv[3:])
    _worker.read_damaged = sabotaged
    _worker.main(folder, int(sys.argv[2]), range(FIRST, stop, step))
