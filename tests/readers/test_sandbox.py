"""The sandbox: hostile files do nothing, a hostile child achieves nothing, failures have names."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import os
import pickle
import socket
import struct
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from hostile_pickles import NAMES, Calls, dumped, payloads
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from glassleak.errors import (
    MalformedModelError,
    ModelError,
    ModelTooLargeError,
    SandboxError,
    UnsupportedModelError,
)
from glassleak.models import Forest, Tree
from glassleak.readers._interpret import interpret
from glassleak.readers._limits import Limits
from glassleak.readers._live import state_of
from glassleak.readers.sandbox import _sandbox, _sandbox_linux, _sandbox_worker
from glassleak.readers.sandbox._sandbox import read_in_sandbox
from glassleak.readers.sandbox._sandbox_lock import FORBIDDEN_EXIT

LIMITS = Limits(seconds=60, memory_bytes=2 * 1024**3)
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs what Linux offers")


@pytest.fixture(scope="module")
def forest() -> RandomForestClassifier:
    rng = np.random.default_rng(0)
    return RandomForestClassifier(4, random_state=0).fit(
        rng.random((60, 3)), rng.choice(["no", "yes"], 60)
    )


@pytest.fixture
def tree_file(tmp_path: Path) -> Path:
    path = tmp_path / "tree.pkl"
    path.write_bytes(pickle.dumps(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])))
    return path


# What comes back.


@pytest.mark.parametrize("compress", [None, 0, 3])
def test_a_model_comes_back_as_if_read_live(
    forest: RandomForestClassifier, compress: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "model.bin"
    if compress is None:
        path.write_bytes(pickle.dumps(forest))
    else:
        joblib.dump(forest, path, compress=compress)
    answer = read_in_sandbox(path, LIMITS)
    live = interpret(state_of(forest), LIMITS)
    assert isinstance(answer.model, Forest)
    assert answer.model == live.model
    assert answer.artefacts == live.artefacts
    assert answer.problem is None


def test_a_model_of_another_kind_is_a_problem_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(LogisticRegression().fit([[0.0], [1.0]], [0, 1])))
    answer = read_in_sandbox(path, LIMITS)
    assert answer.model is None
    assert isinstance(answer.problem, UnsupportedModelError)
    assert "LogisticRegression" in str(answer.problem)


@linux
def test_linux_offers_every_protection_that_needs_no_rights(tree_file: Path) -> None:
    protection = read_in_sandbox(tree_file, LIMITS).protection
    for wanted in (
        "separate process", "wall-clock limit", "minimal environment", "memory limit",
        "processor time limit", "no new descriptors", "no new privileges", "audit hook",
    ):  # fmt: skip
        assert wanted in protection
    # Allowed nearly everywhere, but not everywhere: then it must say so.
    for optional in ("own network namespace", "system-call filter"):
        assert (optional in protection) != (f"not available: {optional}" in protection)


def test_errors_keep_their_type_and_place(tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(b"\x80\x04K\x01K\x02R.")
    with pytest.raises(MalformedModelError, match="arguments") as caught:
        read_in_sandbox(path, LIMITS)
    assert caught.value.place == "byte 6"
    with pytest.raises(ModelTooLargeError):
        read_in_sandbox(path, dataclasses.replace(LIMITS, file_bytes=3))
    for wrong in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(MalformedModelError, match="not a file"):
            read_in_sandbox(wrong, LIMITS)


def test_a_fault_of_a_reader_is_reported_as_one(
    tree_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(root: Any, limits: Limits) -> Any:
        raise ZeroDivisionError("in a reader")

    monkeypatch.setattr(_sandbox_worker, "interpret", faulty)
    with tree_file.open("rb") as file:
        line = _sandbox_worker.answer(file, LIMITS)
    error = json.loads(line)["error"]
    assert error == {
        "type": "Exception",
        "message": "ZeroDivisionError: in a reader",
        "place": None,
    }
    with pytest.raises(SandboxError, match="a reader failed in the sandbox: ZeroDivisionError"):
        _sandbox._answer(b'{"protection": []}\n' + line, "tree.pkl")


@pytest.mark.parametrize("machine", _sandbox_linux._NUMBERS)
def test_the_filter_is_complete_for_every_machine(machine: str) -> None:
    numbers = _sandbox_linux._NUMBERS[machine]
    names = {*_sandbox_linux._NAMES, *_sandbox_linux._NO_EXECUTION}
    assert set(numbers) == names
    assert len(set(numbers.values())) == len(names)
    code = _sandbox_linux._filter(numbers, _sandbox_linux._AUDIT_ARCH[machine])
    assert len(code) % 8 == 0
    assert code.endswith(struct.pack("<HBBI", 0x06, 0, 0, 0x00050001))  # refuse the rest


# Hostile files.


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_the_file_is_run(name: str, tmp_path: Path) -> None:
    """That these payloads are live is shown in test_pickle_hostile."""
    marker = tmp_path / "marker"
    path = tmp_path / "model.pkl"
    path.write_bytes(payloads(marker)[name])
    with contextlib.suppress(ModelError):
        answer = read_in_sandbox(path, LIMITS)
        assert answer.model is None
    assert not marker.exists()


def test_nobody_is_called_over_the_network(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        path = tmp_path / "model.pkl"
        path.write_bytes(pickle.dumps(Calls(socket.create_connection, server.getsockname())))
        answer = read_in_sandbox(path, LIMITS)
        assert isinstance(answer.problem, UnsupportedModelError)
        with pytest.raises(TimeoutError):
            server.accept()
        # The payload is live: loading it for real connects.
        pickle.loads(path.read_bytes()).close()
        server.accept()[0].close()


# Limits.


def test_time_is_limited(tmp_path: Path) -> None:
    # Integers of equal hash: filling a dictionary with them takes time quadratic in their number.
    keys = b"".join(
        b"\x8a\x0c" + (sys.hash_info.modulus * i).to_bytes(12, "little") + b"N"
        for i in range(100_000)
    )
    path = tmp_path / "model.pkl"
    path.write_bytes(b"}(" + keys + b"u.")
    start = time.perf_counter()
    with pytest.raises(SandboxError, match=r"longer than 2\.5 seconds"):
        read_in_sandbox(path, dataclasses.replace(LIMITS, seconds=2.5))
    assert time.perf_counter() - start < 6


@linux
def test_memory_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    with path.open("wb") as file:
        file.truncate(1_000_000_000)  # sparse: nothing is written
    with pytest.raises(SandboxError, match="ran out of memory"):
        read_in_sandbox(path, dataclasses.replace(LIMITS, memory_bytes=6 * 10**8))
    with pytest.raises(SandboxError, match="ran out of memory"):
        # Not even enough for what is loaded already.
        read_in_sandbox(path, dataclasses.replace(LIMITS, memory_bytes=10**7))


def test_unpacking_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "model.pkl.gz"
    path.write_bytes(gzip.compress(bytes(20_000_000)))
    with pytest.raises(ModelTooLargeError, match="unpacks"):
        read_in_sandbox(path, dataclasses.replace(LIMITS, unpacked_bytes=10**7))


# The lock-down itself, against code that already runs in the child.

PRELUDE = """
import sys
{before}
import ctypes, mmap, os, signal, socket, subprocess, threading, types
for name, place in ({packages!r}).items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [place]
from glassleak.readers._limits import Limits
from glassleak.readers.sandbox._sandbox_lock import lock_down
if {without_hook}:
    sys.addaudithook = lambda hook: None
protection = lock_down(Limits(seconds=20, memory_bytes=10**9))
if {without_hook} and "system-call filter" not in protection:
    os.write(1, b"no filter")
    os._exit(0)
try:
    {attempt}
except (OSError, RuntimeError, ImportError, MemoryError):
    os.write(1, b"refused")
else:
    os.write(1, b"done")
os._exit(0)
"""
ATTEMPTS = {
    "write a file": "open({new!r}, 'w')",
    "read a file": "open({old!r})",
    "append to a descriptor's file": "os.open({old!r}, os.O_WRONLY | os.O_APPEND)",
    "delete a file": "os.remove({old!r})",
    "rename a file": "os.rename({old!r}, {new!r})",
    "change rights": "os.chmod({old!r}, 0)",
    "make a folder": "os.mkdir({new!r})",
    "list a folder": "os.listdir({folder!r})",
    "open a socket": "socket.socket()",
    "fork": "os.fork() or os._exit(0)",
    "replace the process": "os.execv(sys.executable, [sys.executable, '-c', 'print()'])",
    "start a process": "subprocess.run([sys.executable, '-c', {code!r}])",
    "spawn a process": "os.posix_spawn(sys.executable, [sys.executable, '-c', {code!r}], {{}})",
    "import a module": "import colorsys",
    "signal the parent": "os.kill(os.getppid(), signal.SIGCONT)",
    "get executable memory": "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
}
ONLY_THE_KERNEL = {"start a thread": "threading.Thread(target=int).start()"}
ONLY_THE_HOOK = {
    "ask for a name": "socket.getaddrinfo('localhost', 80)",
    "call the C library": "ctypes.CDLL(None).getpid()",
    "compile code": "compile('1', '', 'eval')",
    "run a shell": "os.system({code!r})",
    "look up a class for pickle": "sys.audit('pickle.find_class', 'os', 'system')",
}


def attempt(
    what: str, folder: Path, *, without_hook: bool, before: str = ""
) -> subprocess.CompletedProcess[bytes]:
    old, new = folder / "old", folder / "new"
    old.write_text("kept")
    places = {"old": str(old), "new": str(new), "folder": str(folder)}
    places["code"] = f"open({str(new)!r}, 'w')"
    root = Path(_sandbox.__file__).parents[1]
    script = PRELUDE.format(
        packages={"glassleak": str(root.parent), "glassleak.readers": str(root)},
        attempt=what.format(**places),
        without_hook=without_hook,
        before=before,
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=30)
    assert old.read_text() == "kept"
    assert not new.exists()
    return ended


@linux
@pytest.mark.parametrize("name", [*ATTEMPTS, *ONLY_THE_HOOK])
def test_code_in_the_child_is_ended(name: str, tmp_path: Path) -> None:
    ended = attempt((ATTEMPTS | ONLY_THE_HOOK)[name], tmp_path, without_hook=False)
    assert (ended.returncode, ended.stdout) == (FORBIDDEN_EXIT, b"")
    assert ended.stderr  # names the event


@linux
@pytest.mark.parametrize("name", [*ATTEMPTS, *ONLY_THE_KERNEL])
def test_the_kernel_refuses_on_its_own(name: str, tmp_path: Path) -> None:
    ended = attempt((ATTEMPTS | ONLY_THE_KERNEL)[name], tmp_path, without_hook=True)
    if ended.stdout == b"no filter":
        pytest.skip("this system does not allow filtering system calls")
    assert (ended.returncode, ended.stdout) == (0, b"refused"), ended.stderr


@linux
def test_the_child_can_still_compute_but_not_grow(tmp_path: Path) -> None:
    assert attempt("len(bytes(10**8))", tmp_path, without_hook=False).stdout == b"done"
    assert attempt("len(bytes(10**10))", tmp_path, without_hook=False).stdout == b"refused"


@linux
def test_a_poorer_platform_is_said_to_be_one(tmp_path: Path) -> None:
    poorer = "sys.modules['resource'] = None"
    report = "sys.platform == 'other' and os.write(1, '; '.join(protection).encode())"
    elsewhere = attempt(report, tmp_path, without_hook=False, before=poorer + OTHER_PLATFORM)
    assert elsewhere.stdout.decode().removesuffix("done").split("; ") == [
        "not available: namespaces",
        "not available: resource limits",
        "not available: system-call filter",
        "audit hook",
    ]
    # What is left still ends the process.
    for name, what in (ATTEMPTS | ONLY_THE_HOOK).items():
        if name in ("write a file", "open a socket", "fork", "import a module"):
            ended = attempt(what, tmp_path, without_hook=False, before=poorer + OTHER_PLATFORM)
            assert ended.returncode == FORBIDDEN_EXIT, name


# The standard library must be loaded for the real platform first.
OTHER_PLATFORM = """
import ctypes, mmap, os, signal, socket, subprocess, threading
sys.platform = 'other'
"""


# A child that has been taken over: whatever it does, the parent names it and goes on.


def boot(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(_sandbox, "_BOOT", "import json, os, sys\n" + textwrap.dedent(code))


def say(*documents: Any) -> str:
    text = "".join(json.dumps(document) + "\n" for document in documents)
    return f"sys.stdout.write({text!r})"


READY = {"protection": ["none at all"]}
NOTHING = {"model": None, "problem": None, "artefacts": [], "error": None}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("sys.exit()", "nonsense"),
        ("print('hello')", "nonsense"),
        ("sys.stdout.buffer.write(bytes(range(256)))", "nonsense"),
        ("sys.stdout.write('[' * 200_000)", "nonsense"),
        (say(READY), "nonsense"),
        (say(READY, NOTHING, NOTHING), "nonsense"),
        (say({"protection": [["x"]]}, NOTHING), "nonsense"),
        (say({"protection": ["x"] * 1000}, NOTHING), "nonsense"),
        (say(READY, NOTHING | {"model": {"format": "glassleak-model"}}), "nonsense"),
        (say(READY, NOTHING | {"model": [[[]]]}), "nonsense"),
        (say(READY, NOTHING | {"artefacts": [{"kind": 1}]}), "nonsense"),
        (say(READY, NOTHING | {"problem": {"message": 5, "place": None}}), "nonsense"),
        (say(READY, {"error": {"type": "KeyboardInterrupt", "message": "x", "place": None}}), "x"),
        (say(READY, {"error": {"type": "SandboxError", "message": "x", "place": None}}), "x"),
        ("os._exit(3)", "status 3: no reason given"),
        ("sys.exit('first\\nlast \\x1b[2J')", r"status 1: last \?\[2J"),
        ("raise ImportError('numpy is gone')", "numpy is gone"),
        ("while True: sys.stdout.write('x' * 100_000)", "more than 1,000,000 bytes"),
        ("os.close(1); import time; time.sleep(60)", "did not end"),
    ],
)
def test_nonsense_is_called_nonsense(
    code: str, message: str, monkeypatch: pytest.MonkeyPatch, tree_file: Path
) -> None:
    boot(monkeypatch, code)
    with pytest.raises(SandboxError, match=message):
        read_in_sandbox(tree_file, dataclasses.replace(LIMITS, seconds=20, json_bytes=10**6))


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    ("signal_name", "message"),
    [("SIGSEGV", "crashed"), ("SIGKILL", "lack of memory"), ("SIGXCPU", "processor time")],
)
def test_death_by_signal(
    signal_name: str, message: str, monkeypatch: pytest.MonkeyPatch, tree_file: Path
) -> None:
    boot(monkeypatch, f"import signal; os.kill(os.getpid(), signal.{signal_name})")
    with pytest.raises(SandboxError, match=message):
        read_in_sandbox(tree_file, LIMITS)


def test_a_lie_is_only_data(monkeypatch: pytest.MonkeyPatch, tree_file: Path) -> None:
    problem = {"message": "\x1b[31mred\n" + "x" * 10_000, "place": None}
    boot(monkeypatch, say(READY, NOTHING | {"problem": problem}))
    answer = read_in_sandbox(tree_file, LIMITS)
    assert str(answer.problem).startswith("?[31mred?xxx")
    assert len(str(answer.problem)) <= 2000
    assert "none at all" in answer.protection


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_what_the_child_started_ends_with_it(
    monkeypatch: pytest.MonkeyPatch, tree_file: Path, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    boot(
        monkeypatch,
        f"""
        import subprocess, time
        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        open({str(note)!r}, "w").write(str(other.pid))
        time.sleep(60)
        """,
    )
    start = time.perf_counter()
    with pytest.raises(SandboxError, match="longer than"):
        read_in_sandbox(tree_file, dataclasses.replace(LIMITS, seconds=1.5))
    assert time.perf_counter() - start < 5
    assert ended(int(note.read_text()))


def ended(process: int) -> bool:
    """Whether a process is gone (or only waits for its parent to notice)."""
    for _ in range(50):
        try:
            os.kill(process, 0)
            if sys.platform == "linux":
                status = Path(f"/proc/{process}/stat").read_text()
                if status.rpartition(")")[2].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def test_the_child_inherits_neither_environment_nor_descriptors(
    monkeypatch: pytest.MonkeyPatch, tree_file: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("GLASSLEAK_TEST_SECRET", "hunter2")
    with (tmp_path / "secret").open("w") as open_file:
        os.set_inheritable(open_file.fileno(), True)
        boot(
            monkeypatch,
            f"""
            found = sorted(k for k in os.environ if k.startswith("GLASSLEAK"))
            try:
                os.fstat({open_file.fileno()})
            except OSError:
                found.append("closed")
            sys.exit(",".join(found))
            """,
        )
        with pytest.raises(SandboxError, match=r"status 1: closed$"):
            read_in_sandbox(tree_file, LIMITS)


def test_it_works_from_a_thread_and_an_odd_folder(
    tree_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Modules lying about in the working directory must not be picked up.
    (tmp_path / "json.py").write_text("raise SystemExit('wrong module')")
    (tmp_path / "numpy.py").write_text("raise SystemExit('wrong module')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(read_in_sandbox(tree_file, LIMITS)))
    thread.start()
    thread.join(60)
    assert isinstance(found[0].model, Tree)


def test_a_joblib_trap_cannot_hide_behind_a_model(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    model.note_ = np.array([Calls(open, str(marker), "w")], dtype=object)
    path = tmp_path / "model.joblib"
    path.write_bytes(dumped(model))
    answer = read_in_sandbox(path, LIMITS)
    assert isinstance(answer.model, Tree)
    assert not marker.exists()
