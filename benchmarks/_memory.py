"""Memory of this process, now and at most.

``getrusage`` would do, but on Linux a child starts with the peak of the parent that started it.
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def resident() -> int:
    """Bytes in memory now; without /proc the most so far, which is an upper bound."""
    return _status("VmRSS") or peak()


def peak() -> int:
    """Most bytes in memory so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(name: str) -> int:
    if not _STATUS.exists():
        return 0
    found = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
