"""One measurement in a process of its own: ``python -m benchmarks._measure WHAT FILE``."""

from __future__ import annotations

import json
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import glassleak as gl
from benchmarks._memory import peak, resident


def main(what: str, path: Path) -> None:
    source: Any = path
    if what == "live":
        source = pickle.loads(path.read_bytes())  # our own file, written a moment ago
    elif what == "skops itself":
        import sklearn.ensemble
        import skops.io

        source = skops.io.get_untrusted_types(file=path)
        assert sklearn.ensemble
    before, started = resident(), time.perf_counter()
    more = {}
    if what == "skops itself":
        result: Any = skops.io.load(path, trusted=source)
    elif what == "audit":
        result = gl.audit(path)
        more["verdict"] = result.verdict
    else:
        result = gl.read(source)
    seconds = time.perf_counter() - started
    answer = {"seconds": seconds, "grown": peak() - before, "peak": peak(), **more}
    assert result is not None
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
