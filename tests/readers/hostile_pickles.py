"""Pickles that run code when they are loaded, for the tests of the decoder and the sandbox."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.tree import DecisionTreeClassifier


class Calls:
    """Pickles as a call, the way every exploit does."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.function, self.arguments


def dumped(value: Any, compress: Any = 0) -> bytes:
    file = io.BytesIO()
    joblib.dump(value, file, compress=compress)
    return file.getvalue()


NAMES = (
    "INST", "OBJ", "as a state", "as an array's type", "callables in callables", "eval", "exec",
    "f2py", "getattr chain", "hidden beside a model", "joblib object array",
    "joblib object array, compressed", "numpy.load", "os.system", "os.system, protocol 0", "runpy",
    "second pickle", "subprocess",
)  # fmt: skip


def payloads(marker: Path) -> dict[str, bytes]:
    """Pickles by name, each of which creates `marker` when it is loaded."""
    touch = f"\"{sys.executable}\" -c \"open(r'{marker}', 'w')\""
    code = f"open({str(marker)!r}, 'w').close()"
    text = b"V" + code.encode() + b"\n"
    script = marker.with_suffix(".py")
    script.write_text(code)
    objects = np.array([Calls(eval, code)], dtype=object)
    return {
        "INST": b"(" + text + b"ibuiltins\neval\n.",
        "OBJ": b"(cbuiltins\neval\n" + text + b"o.",
        "as a state": b"cbuiltins\nobject\n)\x81cbuiltins\neval\n(" + text + b"tRb.",
        "as an array's type": b"cnumpy\ndtype\n(cbuiltins\neval\n(" + text + b"tRtR.",
        "callables in callables": pickle.dumps(Calls(list, Calls(map, eval, [code]))),
        "eval": pickle.dumps(Calls(eval, code)),
        "exec": pickle.dumps(Calls(exec, code)),
        "f2py": b"cnumpy.f2py.crackfortran\nmyeval\n(" + text + b"tR.",
        "getattr chain": b"cbuiltins\neval\n(cbuiltins\ngetattr\n(" + text + b"Vstrip\ntR)RtR.",
        "hidden beside a model": pickle.dumps([DecisionTreeClassifier(), Calls(eval, code)]),
        "joblib object array": dumped(objects),
        "joblib object array, compressed": dumped(objects, 3),
        "numpy.load": pickle.dumps(Calls(np.load, _poisoned_npy(marker, code), None, True)),
        "os.system": pickle.dumps(Calls(os.system, touch)),
        "os.system, protocol 0": pickle.dumps(Calls(os.system, touch), 0),
        "runpy": b"crunpy\nrun_path\n(V" + str(script).encode() + b"\ntR.",
        "second pickle": pickle.dumps(0) + pickle.dumps(Calls(eval, code)),
        "subprocess": pickle.dumps(Calls(subprocess.check_call, _argv(code))),
    }


def _argv(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def _poisoned_npy(marker: Path, code: str) -> str:
    path = marker.with_suffix(".npy")
    with path.open("wb") as file:
        header = {"descr": "|O", "fortran_order": False, "shape": (1,)}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(pickle.dumps(Calls(eval, code)))
    return str(path)


def load_for_real(raw: bytes) -> None:
    """What a careless reader does; only for showing that a payload is live."""
    file = io.BytesIO(raw)
    while file.tell() < len(raw):
        if raw[:1] == b"x" or b"NumpyArrayWrapper" in raw:
            joblib.load(file)
            return
        pickle.load(file)
