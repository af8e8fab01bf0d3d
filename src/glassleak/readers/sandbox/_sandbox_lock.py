"""Give up, for good, everything a process needs to do harm.

Layers, each of which would do on its own for most attacks: kernel resource limits, namespaces
without network, a system-call filter that leaves computing and reading open descriptors, and a
Python audit hook that ends the process on anything else.  What a platform does not offer is left
out and said so.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from typing import Any, Final

from glassleak.readers._limits import Limits
from glassleak.readers.sandbox._sandbox_linux import enter_namespaces, filter_system_calls, harden

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

FORBIDDEN_EXIT: Final = 71
MEMORY_EXIT: Final = 72
# Events without effect outside the interpreter.  Everything else ends the process.
_HARMLESS: Final = frozenset(
    {
        "builtins.id", "object.__getattr__", "object.__setattr__", "object.__delattr__",
        "sys._getframe", "sys.excepthook", "sys.unraisablehook", "time.sleep", "array.__new__",
    }
)  # fmt: skip


def lock_down(limits: Limits) -> tuple[str, ...]:
    """Lock the calling process down; there is no way back.

    Parameters
    ----------
    limits : Limits
        For memory and processor time.

    Returns
    -------
    tuple of str
        The protections in force, and those the platform does not offer ("not available: …").
    """
    report = [
        *_linux_first(),
        *_resource_limits(limits),
        *_linux_last(),
    ]
    sys.addaudithook(_hook(os._exit, os.write))
    report.append("audit hook")
    return tuple(report)


def _linux_first() -> Iterator[str]:
    if sys.platform != "linux":
        yield "not available: namespaces"
        return
    # Before the limits, which would forbid entering them.
    yield from enter_namespaces()


def _linux_last() -> Iterator[str]:
    if sys.platform != "linux":
        yield "not available: system-call filter"
        return
    yield from harden()
    yield filter_system_calls()


def _resource_limits(limits: Limits) -> Iterator[str]:
    if resource is None:
        yield "not available: resource limits"
        return
    seconds = math.ceil(limits.seconds) + 1
    wanted = (
        ("RLIMIT_AS", limits.memory_bytes, "memory limit"),
        ("RLIMIT_CPU", seconds, "processor time limit"),
        ("RLIMIT_FSIZE", 0, "file size limit 0"),
        ("RLIMIT_NPROC", 0, "process limit 0"),
        ("RLIMIT_CORE", 0, "no core dump"),
        ("RLIMIT_NOFILE", 0, "no new descriptors"),
    )
    for name, value, label in wanted:
        try:
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            most = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (most, most))
        except (AttributeError, ValueError, OSError):
            yield f"not available: {label}"
        else:
            yield label


def _hook(leave: Any, write: Any) -> Any:
    # References are kept here: code running later could replace them in their modules.
    loaded, harmless, forbidden = sys.modules, _HARMLESS, FORBIDDEN_EXIT

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in harmless or (event == "import" and arguments[0] in loaded):
            return
        try:
            write(2, event.encode("ascii", "replace")[:100])
        finally:
            leave(forbidden)

    return hook
