"""The parent side of the sandbox: start the worker, bound it, and believe nothing it says."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

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
from glassleak.readers.sandbox._sandbox_lock import FORBIDDEN_EXIT, MEMORY_EXIT

# Of the child's two descriptors, errors are only looked at to explain a failure.
_MAX_COMPLAINT: Final = 4000
_MAX_TEXT: Final = 2000
_MAX_PROTECTIONS: Final = 50
_CHUNK: Final = 1 << 16
_GRACE: Final = 2.0  # seconds between the last word and the end of the process
_OWN: Final = ("separate process", "wall-clock limit", "minimal environment")
# What numpy may need to be found and loaded; and one thread, so that there are none to watch.
_KEPT: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "PATH")
_THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
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
# installation, wherever it lies; the parent's other paths only serve to find numpy.  The package's
# own __init__ is not run: it loads analyses the worker has no use for.
_BOOT: Final = """\
import importlib.util, json, sys
place, paths = json.loads(sys.argv[1])
sys.path.extend(path for path in paths if path not in sys.path)
spec = importlib.util.spec_from_file_location(
    "glassleak", place + "/__init__.py", submodule_search_locations=[place])
sys.modules["glassleak"] = importlib.util.module_from_spec(spec)
from glassleak.readers.sandbox._sandbox_worker import main
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
    if not path.is_file():  # opening anything else might wait forever
        raise MalformedModelError("not a file", path.name)
    try:
        file = path.open("rb")
    except OSError as error:
        raise MalformedModelError(f"cannot be opened: {error.strerror}", path.name) from None
    with file:
        size = os.fstat(file.fileno()).st_size
        if size > limits.file_bytes:
            raise ModelTooLargeError(f"{size:,} bytes, over {limits.file_bytes:,}", path.name)
        raw = _run(file, path.name, limits)
    return _answer(raw, path.name)


def _run(file: IO[bytes], name: str, limits: Limits) -> bytes:
    """Everything the child says, once it has ended well."""
    try:
        child = subprocess.Popen(  # noqa: S603 - a fixed command; the file is only its input
            _command(limits),
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"the sandbox could not be started: {error}", name) from None
    assert child.stdout is not None
    assert child.stderr is not None
    answer = _Collector(child.stdout, limits.json_bytes, lambda: _kill(child))
    complaint = _Collector(child.stderr, _MAX_COMPLAINT, None)
    try:
        answer.join(limits.seconds)
        if answer.is_alive():
            raise SandboxError(f"the sandbox took longer than {limits.seconds:g} seconds", name)
        if answer.overflow:
            raise SandboxError(
                f"the sandbox answered with more than {limits.json_bytes:,} bytes", name
            )
        try:
            status = child.wait(_GRACE)
        except subprocess.TimeoutExpired:
            raise SandboxError("the sandbox stopped talking but did not end", name) from None
    finally:
        _kill(child)
        child.wait()
        answer.finish()
        complaint.finish()
    if status != 0:
        raise SandboxError(f"the sandbox {_why(status, complaint.text())}", name)
    return bytes(answer.data)


def _command(limits: Limits) -> list[str]:
    if not sys.executable:
        raise SandboxError("the sandbox cannot start: there is no Python interpreter to start")
    place = str(Path(__file__).resolve().parents[2])
    paths = [path for path in sys.path if Path(path).is_absolute()]
    return [
        sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT,
        json.dumps([place, paths]), json.dumps(dataclasses.asdict(limits)),
    ]  # fmt: skip


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | dict.fromkeys(_THREADS, "1")


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it might have started."""
    if child.returncode is not None:  # its number may belong to somebody else by now
        return
    try:
        # A session of its own, so the group is the child's; Windows has no groups to signal.
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)
    except OSError:  # it ended in this very moment
        child.kill()


def _why(status: int, complaint: str) -> str:
    """What an exit status means, in words."""
    if status == MEMORY_EXIT:
        return "ran out of memory"
    if status == FORBIDDEN_EXIT:
        return f"tried something forbidden ({complaint or 'unknown'}) and was ended"
    if status > 0:
        last = complaint.strip().rpartition("\n")[2]
        return f"failed with status {status}: {last or 'no reason given'}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return {
        "SIGXCPU": "ran out of processor time",
        "SIGKILL": "was killed, perhaps for lack of memory",
        "SIGXFSZ": "tried to write a file",
    }.get(name, f"crashed ({name})")


class _Collector(threading.Thread):
    """Reads a pipe to its end; too much is reported, or only the last part of it kept."""

    def __init__(
        self, pipe: IO[bytes], most: int, when_too_much: Callable[[], None] | None
    ) -> None:
        super().__init__(daemon=True)
        self.data = bytearray()
        self.overflow = False
        self._pipe, self._most, self._when_too_much = pipe, most, when_too_much
        self.start()

    def run(self) -> None:
        descriptor = self._pipe.fileno()
        while piece := os.read(descriptor, _CHUNK):
            self.data += piece
            if len(self.data) > self._most:
                self.overflow = True
                if self._when_too_much is not None:
                    self._when_too_much()
                    return
                del self.data[: -self._most]

    def finish(self) -> None:
        """Close the pipe, unless somebody who escaped still holds the other end."""
        self.join(_GRACE)
        if not self.is_alive():
            self._pipe.close()

    def text(self) -> str:
        """As printable text: it may hold anything, such as terminal controls."""
        return "\n".join(_clean(line) for line in self.data.decode("utf-8", "replace").split("\n"))


def _answer(raw: bytes, name: str) -> SandboxAnswer:
    """Rebuild the answer, validating every part: a compromised child may lie, and no more."""
    try:
        protection, document = _parsed(raw)
        answer = _rebuilt(document, protection) if document["error"] is None else None
        failure = None if document["error"] is None else _failure(document["error"], name)
    # Whatever is wrong with an answer, it must not look like a finding about the model.
    except Exception as error:
        raise SandboxError(f"the sandbox answered nonsense: {_clean(str(error))}", name) from None
    if answer is None:
        raise failure or SandboxError("the sandbox answered nothing", name)
    return answer


def _parsed(raw: bytes) -> tuple[list[str], dict[str, Any]]:
    first, second, rest = raw.split(b"\n")
    protection, document = json.loads(first)["protection"], json.loads(second)
    if rest or not isinstance(protection, list) or not isinstance(document, dict):
        raise ValueError("parts missing or too many")
    if len(protection) > _MAX_PROTECTIONS or not all(isinstance(p, str) for p in protection):
        raise ValueError("protections of the wrong kind")
    return protection, document


def _rebuilt(document: dict[str, Any], protection: list[str]) -> SandboxAnswer:
    model, problem = document["model"], document["problem"]
    return SandboxAnswer(
        None if model is None else model_from_document(model),
        None if problem is None else UnsupportedModelError(*_described(problem)),
        tuple(Artefact.from_document(entry) for entry in document["artefacts"]),
        (*_OWN, *(_clean(text) for text in protection)),
    )


def _failure(error: dict[str, Any], name: str) -> ModelError:
    """The child's error as one of ours, by name from a fixed table."""
    message, place = _described(error)
    kind = _ERRORS.get(error["type"])
    if kind is None:
        return SandboxError(f"a reader failed in the sandbox: {message}", name)
    return kind(message, place)


def _described(entry: dict[str, Any]) -> tuple[str, str | None]:
    message, place = entry["message"], entry["place"]
    if not isinstance(message, str) or not isinstance(place, str | None):
        raise TypeError("an error without words")
    return _clean(message), None if place is None else _clean(place)


def _clean(text: str) -> str:
    """`text` without characters that could play tricks on a terminal, and not too long."""
    return "".join(c if c.isprintable() else "?" for c in text[:_MAX_TEXT])
