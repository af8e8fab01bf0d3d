"""Open thousands of damaged and hostile model files, and require a typed error or a model.

Every file is opened in a watched process.  A hang, a crash, memory growth, an exception that is
not a `GlassleakError`, or any sign that something in the file was run is a failure; it is printed
with what is needed to see it again.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._corpus import Seed, build
from benchmarks._mutate import damaged, file_number

NAME = "fuzz"
HELP = "open damaged and hostile files of every format"
HANG_SECONDS = 10.0
START_SECONDS = 120.0
ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Tally:
    """What came of the files.

    Attributes
    ----------
    outcomes : mapping of format to Counter of outcomes
    failures : list of (index, format, what happened)
    seconds : float
    """

    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    failures: list[tuple[int, str, str]] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, index: int, kind: str, outcome: str, problem: str | None) -> None:
        """Count one file."""
        self.outcomes[kind][outcome] += 1
        if problem:
            self.failures.append((index, kind, problem))

    @property
    def files(self) -> int:
        """How many were counted."""
        return sum(sum(counter.values()) for counter in self.outcomes.values())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--sandboxed", type=int, default=40, metavar="N",
                        help="pickles sent through the real sandbox (default: 40)")  # fmt: skip
    parser.add_argument("--only", type=int, metavar="INDEX",
                        help="open this one file again and show what happens")  # fmt: skip
    parser.add_argument("--keep", metavar="FILE", help="with --only: write the file here")


def run(arguments: argparse.Namespace) -> int:
    corpus = build()
    if arguments.only is not None:
        return _again(corpus, arguments)
    tally = fuzz(corpus, arguments.files, arguments.seed, arguments.workers)
    sandboxed = fuzz_sandbox(corpus, arguments.sandboxed, arguments.seed)
    _show(tally, "opened in a watched process")
    _show(sandboxed, "sent through the sandbox")
    failures = tally.failures + sandboxed.failures
    for index, kind, problem in failures[:50]:
        print(f"\nFAILED file {index} ({kind}): {problem}")
        print(f"  again: python -m benchmarks fuzz --seed {arguments.seed} --only {index}")
    print(f"\n{len(failures)} failures in {tally.files + sandboxed.files:,} files")
    complete = tally.files == arguments.files and sandboxed.files == arguments.sandboxed
    return 0 if complete and not failures else 1


def fuzz(
    corpus: tuple[Seed, ...], files: int, seed: int, workers: int = 1,
    worker: str = "benchmarks._worker", patience: float = HANG_SECONDS,
) -> Tally:  # fmt: skip
    """Open `files` damaged files in `workers` processes, each running the module `worker`."""
    tally, lock, started = Tally(), threading.Lock(), time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "corpus.pickle").write_bytes(pickle.dumps(corpus))
        with ThreadPoolExecutor(workers) as pool:
            shares = [range(k, files, workers) for k in range(workers)]
            jobs = [
                pool.submit(_Opener(folder, seed, tally, lock, worker, patience).run, share, corpus)
                for share in shares
            ]
        for job in jobs:
            job.result()
    tally.seconds = time.perf_counter() - started
    return tally


@dataclass(frozen=True)
class _Opener:
    """Has files opened by one process after another."""

    folder: Path
    seed: int
    tally: Tally
    lock: threading.Lock
    worker: str
    patience: float

    def run(self, indices: range, corpus: tuple[Seed, ...]) -> None:
        """When the process dies or hangs, go on behind the file at fault."""
        while indices:
            done, fault = self._one_process(indices)
            indices = indices[done:]
            if fault:
                kind = file_number(indices[0], self.seed, corpus)[0].kind
                with self.lock:
                    self.tally.add(indices[0], kind, "died", fault)
                indices = indices[1:]

    def _one_process(self, indices: range) -> tuple[int, str]:
        """How many files a process finished, and what went wrong with the next, if anything."""
        numbers = (self.seed, indices.start, indices.stop, indices.step)
        canary = self.folder / f"canary-{indices[0]}"
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
            "GLASSLEAK_CANARY": str(canary),
        }
        errors = self.folder / f"errors-{indices[0]}.txt"
        with errors.open("wb") as complaints:
            process = subprocess.Popen(
                [sys.executable, "-m", self.worker, str(self.folder), *map(str, numbers)],
                stdout=subprocess.PIPE, stderr=complaints, env=environment, text=True,
            )  # fmt: skip
            try:
                done = self._listen(process, len(indices), canary)
            except _HungError as hung:
                return hung.done, f"still busy after {self.patience:g} seconds"
            finally:
                process.kill()
                process.wait()
        if done == len(indices):
            return done, ""
        last = errors.read_text(errors="replace").strip()[-2000:]
        return done, f"the process ended with {process.returncode}: {last}"

    def _listen(self, process: subprocess.Popen[str], most: int, canary: Path) -> int:
        assert process.stdout is not None
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_pump, args=(process.stdout, lines), daemon=True).start()
        done, busy = 0, False
        while done < most:
            try:
                line = lines.get(timeout=self.patience if busy else START_SECONDS)
            except queue.Empty:
                raise _HungError(done) from None
            if line is None:
                break
            message = json.loads(line)
            busy = "start" in message
            if busy:
                continue
            if canary.exists():
                # The worker may be one file further by now, so what it said itself is kept.
                noticed = message.get("problem")
                ran = "code in the file was run"
                message["problem"] = f"{noticed}; {ran}" if noticed else ran
                canary.unlink()
            with self.lock:
                self.tally.add(*(message[k] for k in ("done", "kind", "outcome", "problem")))
            done += 1
        return done


class _HungError(Exception):
    def __init__(self, done: int) -> None:
        super().__init__(done)
        self.done = done


def _pump(stream: Any, lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def fuzz_sandbox(corpus: tuple[Seed, ...], files: int, seed: int) -> Tally:
    """Send damaged pickles through the sandbox, as users do."""
    from glassleak.errors import GlassleakError
    from glassleak.readers import Limits, open_model

    pickles = tuple(s for s in corpus if s.kind in ("pickle", "joblib"))
    tally, started = Tally(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path, canary = Path(folder) / "model.pkl", Path(folder) / "canary"
        os.environ["GLASSLEAK_CANARY"] = str(canary)
        for index in range(files):
            rng = random.Random(f"sandbox/{seed}/{index}")
            chosen, content = damaged(rng, pickles)
            path.write_bytes(content)
            problem, begun = None, time.perf_counter()
            try:
                opened = open_model(path, trust="sandbox", limits=Limits(seconds=30))
                outcome = "read" if opened.model else type(opened.problem).__name__
            except GlassleakError as error:
                outcome = type(error).__name__
                # The child must answer; that it died is the sandbox doing the decoder's job.
                if outcome == "SandboxError":
                    problem = str(error)
            except Exception as error:
                outcome, problem = "escaped", repr(error)
            if canary.exists():
                problem = "code in the file was run"
                canary.unlink()
            if time.perf_counter() - begun > HANG_SECONDS + 5:
                problem = f"took {time.perf_counter() - begun:.0f} seconds"
            tally.add(index, f"{chosen.kind} (sandbox, {chosen.name})", outcome, problem)
        del os.environ["GLASSLEAK_CANARY"]
    merged = Tally(failures=tally.failures, seconds=time.perf_counter() - started)
    for kind, counter in tally.outcomes.items():
        merged.outcomes[kind.partition(" ")[0]].update(counter)
    return merged


def _show(tally: Tally, title: str) -> None:
    print(f"\n{tally.files:,} files {title}, {tally.seconds:.1f} s")
    for kind, counter in sorted(tally.outcomes.items()):
        total = sum(counter.values())
        outcomes = ", ".join(f"{name} {n:,}" for name, n in counter.most_common())
        print(f"  {kind:15} {total:6,}: {outcomes}")


def _again(corpus: tuple[Seed, ...], arguments: argparse.Namespace) -> int:
    """Open one file in this very process."""
    from benchmarks._worker import read_damaged

    chosen, content = file_number(arguments.only, arguments.seed, corpus)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(arguments.keep or Path(folder) / "model.bin")
        path.write_bytes(content)
        print(f"file {arguments.only}: {chosen.name} ({chosen.kind}), {len(content):,} bytes")
        print(read_damaged(chosen.kind, content, path))
    return 0
