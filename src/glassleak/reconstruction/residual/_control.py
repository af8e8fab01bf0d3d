"""When to stop: a deadline, a request from outside, or because another thread is done."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Stoppable(Protocol):
    """A solver that can be interrupted from another thread."""

    def stop_search(self) -> None:
        """Return soon, with what there is."""


class Control:
    """Shared by all threads that work on one problem."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self._halted = threading.Event()
        self._lock = threading.Lock()
        self._running: set[Stoppable] = set()

    def left(self) -> float:
        """Seconds until the deadline, never quite 0 (which solvers take for "no limit")."""
        return max(1e-3, self.deadline - time.monotonic())

    def over(self) -> bool:
        return self._halted.is_set() or time.monotonic() >= self.deadline

    def halt(self) -> None:
        """Stop everything that runs or would start."""
        with self._lock:
            self._halted.set()
            running = list(self._running)
        for solver in running:
            solver.stop_search()

    def enter(self, solver: Stoppable) -> bool:
        """Announce a solver before it starts; false if it must not start any more."""
        with self._lock:
            if self._halted.is_set():
                return False
            self._running.add(solver)
            return True

    def leave(self, solver: Stoppable) -> None:
        with self._lock:
            self._running.discard(solver)
