"""The process that opens damaged files: ``python -m benchmarks._worker FOLDER SEED RANGE``.

It announces every file before it opens it, so that the parent knows which one hung or killed it,
and watches itself while reading: nothing may be started, written, fetched or imported.
"""

from __future__ import annotations

import io
import json
import pickle
import resource
import sys
import traceback
from pathlib import Path
from typing import Any

from benchmarks._corpus import Seed
from benchmarks._memory import peak
from benchmarks._mutate import file_number
from glassleak.errors import GlassleakError
from glassleak.models import model_from_document
from glassleak.readers import Limits, open_model
from glassleak.readers._interpret import interpret
from glassleak.readers.pickles._pickle import decode_pickle

MEGABYTE = 1 << 20
# Files are a few kilobytes; nothing about them can justify this.
MOST_GROWTH = 512 * MEGABYTE
ADDRESS_SPACE = 6 * 1024 * MEGABYTE
WATCHED = ("os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
           "os.startfile", "subprocess.Popen", "socket.connect", "socket.bind", "socket.__new__",
           "socket.getaddrinfo", "exec", "ctypes.dlopen", "ctypes.dlsym", "pickle.find_class",
           "marshal.loads", "code.__new__", "os.remove", "os.rename", "os.mkdir", "os.rmdir",
           "os.chmod", "os.putenv", "os.kill", "shutil.rmtree", "urllib.Request",
           "webbrowser.open", "import", "open")  # fmt: skip
# Loaded by Python itself when text of some encoding first turns up.
INNOCENT = ("encodings.", "stringprep", "unicodedata")


class Canary:
    """Records what happens in the process while `on`."""

    def __init__(self) -> None:
        self.on = False
        self.events: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on or event not in WATCHED:
            return
        if event == "open" and not _writes(arguments):
            return
        if event == "import" and str(arguments[0]).startswith(INNOCENT):
            return
        self.events.append(f"{event} {str(arguments[:1])[:200]}")


def _writes(arguments: tuple[Any, ...]) -> bool:
    mode, flags = arguments[1], arguments[2]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & 3)


def read_damaged(kind: str, content: bytes, path: Path) -> str:
    """How reading ended: "read" or the error's name.  Anything else is raised."""
    limits = Limits()
    try:
        if kind in ("pickle", "joblib"):
            found = interpret(decode_pickle(io.BytesIO(content), limits), limits)
            model, problem = found.model, found.problem
        else:
            opened = open_model(path)
            model, problem = opened.model, opened.problem
        if model is None:
            return type(problem).__name__
        # What was accepted must be a model that can be written and read again.
        if model_from_document(json.loads(model.to_json(packed=True))) != model:
            raise AssertionError("the model differs after it was written and read again")
    except GlassleakError as error:
        if not str(error):
            raise AssertionError("an error without a message") from error
        return type(error).__name__
    return "read"


def main(folder: Path, seed: int, indices: range) -> None:
    corpus: tuple[Seed, ...] = pickle.loads((folder / "corpus.pickle").read_bytes())
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    own = folder / f"worker-{indices[0]}.bin"
    for sample in corpus:  # whatever is loaded lazily is loaded now
        own.write_bytes(sample.content)
        read_damaged(sample.kind, sample.content, own)
    canary = Canary()
    out = sys.stdout
    for index in indices:
        chosen, content = file_number(index, seed, corpus)
        own.write_bytes(content)
        out.write(json.dumps({"start": index}) + "\n")
        out.flush()
        before = peak()
        problem = None
        canary.events.clear()
        canary.on = True
        try:
            outcome = read_damaged(chosen.kind, content, own)
        except BaseException:
            canary.on = False
            outcome, problem = "escaped", traceback.format_exc(limit=-6)
        canary.on = False
        grown = peak() - before
        if canary.events:
            problem = f"something ran: {canary.events[:5]}"
        elif grown > MOST_GROWTH:
            problem = f"took {grown / MEGABYTE:.0f} MB"
        answer = {"done": index, "kind": chosen.kind, "outcome": outcome, "problem": problem}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    start, stop, step = map(int, sys.argv[3:])
    main(Path(sys.argv[1]), int(sys.argv[2]), range(start, stop, step))
