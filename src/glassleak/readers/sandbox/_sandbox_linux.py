"""Linux: namespaces, hardening flags and a system-call filter, through libc and nothing else."""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Iterator
from typing import Final

_PR_SET_DUMPABLE: Final = 4
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2

_NAMESPACES: Final = (
    (0x40000000, "own network namespace"),
    (0x00020000, "own mount namespace"),
    (0x08000000, "own IPC namespace"),
    (0x20000000, "own process namespace"),
)
_CLONE_NEWUSER: Final = 0x10000000

# Computing, memory, reading and writing open descriptors, and ending.  No opening, no sockets, no
# processes, no signals to others.  `mmap` and `mprotect` only without execution, see below.
_NAMES: Final = (
    "read", "write", "writev", "pread64", "close", "fstat", "lseek", "munmap", "mremap", "brk",
    "madvise", "futex", "sched_yield", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
    "sigaltstack", "restart_syscall", "getpid", "gettid", "getrusage", "times", "gettimeofday",
    "clock_gettime", "clock_nanosleep", "getrandom", "rseq", "exit", "exit_group",
)  # fmt: skip
_NO_EXECUTION: Final = ("mmap", "mprotect")
_NUMBERS: Final[dict[str, dict[str, int]]] = {
    "x86_64": {
        "read": 0, "write": 1, "close": 3, "fstat": 5, "lseek": 8, "mmap": 9, "mprotect": 10,
        "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
        "pread64": 17, "writev": 20, "sched_yield": 24, "mremap": 25, "madvise": 28, "getpid": 39,
        "exit": 60, "gettimeofday": 96, "getrusage": 98, "times": 100, "sigaltstack": 131,
        "gettid": 186, "futex": 202, "restart_syscall": 219, "clock_gettime": 228,
        "clock_nanosleep": 230, "exit_group": 231, "getrandom": 318, "rseq": 334,
    },
    "aarch64": {
        "close": 57, "lseek": 62, "read": 63, "write": 64, "writev": 66, "pread64": 67,
        "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98, "clock_gettime": 113,
        "clock_nanosleep": 115, "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132,
        "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "times": 153,
        "getrusage": 165, "gettimeofday": 169, "getpid": 172, "gettid": 178, "brk": 214,
        "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226, "madvise": 233,
        "getrandom": 278, "rseq": 293,
    },
}  # fmt: skip
_AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Instructions of the filter machine and its answers.
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # DENY: "operation not permitted"
_AT_NUMBER, _AT_ARCH, _AT_THIRD_ARGUMENT = 0, 4, 32
_PROT_EXEC: Final = 4


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def enter_namespaces() -> Iterator[str]:
    """Leave the system's network, mounts and processes behind, where users may."""
    libc = _libc()
    # One at a time: a system may allow some and not others.  The user namespace gives an ordinary
    # user the right to enter the rest.
    own_user = libc.unshare(_CLONE_NEWUSER) == 0
    yield "own user namespace" if own_user else "not available: own user namespace"
    for flag, label in _NAMESPACES:
        yield label if libc.unshare(flag) == 0 else f"not available: {label}"


def harden() -> Iterator[str]:
    """No privileges through set-user-id programs, no debugging by others."""
    libc = _libc()
    for option, value, label in (
        (_PR_SET_NO_NEW_PRIVS, 1, "no new privileges"),
        (_PR_SET_DUMPABLE, 0, "not debuggable"),
    ):
        done = libc.prctl(option, value, 0, 0, 0) == 0
        yield label if done else f"not available: {label}"


def filter_system_calls() -> str:
    """Let the kernel refuse every system call that is not on the list."""
    machine = platform.machine()
    if machine not in _NUMBERS:
        return "not available: system-call filter"
    code = _filter(_NUMBERS[machine], _AUDIT_ARCH[machine])
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(buffer))
    address = ctypes.addressof(program)
    done = _libc().prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, address, 0, 0) == 0
    return "system-call filter" if done else "not available: system-call filter"


def _filter(numbers: dict[str, int], arch: int) -> bytes:
    # Each entry: operation, jump if true, jump if false, operand.  Jumps count from the next one.
    lines = [
        (_LOAD, 0, 0, _AT_ARCH),
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _AT_NUMBER),
    ]
    for name in _NAMES:
        lines += [(_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, _ALLOW)]
    for name in _NO_EXECUTION:
        lines += [
            (_EQUAL, 0, 4, numbers[name]),
            (_LOAD, 0, 0, _AT_THIRD_ARGUMENT),
            (_ANY_BIT, 0, 1, _PROT_EXEC),
            (_RETURN, 0, 0, _DENY),
            (_RETURN, 0, 0, _ALLOW),
        ]
    lines.append((_RETURN, 0, 0, _DENY))
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    libc.unshare.argtypes = [ctypes.c_int]
    return libc
