"""Solve and sample what propagation leaves open: whole-number tables over thousands of cells."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from glassleak.reconstruction.residual._attempts import Attempts
from glassleak.reconstruction.residual._control import Control
from glassleak.reconstruction.residual._problem import (
    Infeasible,
    IntArray,
    Problem,
    Solution,
    problem,
)
from glassleak.reconstruction.residual._sampling import draw

__all__ = ["Infeasible", "Solution", "sample_solutions", "solve_component"]

Progress = Callable[[str, float], None]
_POLL_SECONDS = 0.05
# How long to wait for a thread that has been told to stop; linear programs only look at the clock.
_GRACE_SECONDS = 1.0


def solve_component(
    matrix: sp.csr_array,
    target: IntArray,
    lower: IntArray,
    upper: IntArray,
    *,
    deadline: float,
    seed: int,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    workers: int = 2,
) -> Solution | Infeasible | None:
    """Whole numbers ``lower <= x <= upper`` with ``matrix @ x == target``.

    Parameters
    ----------
    matrix : CSR matrix of zeros and ones
    deadline : float
        On the clock of ``time.monotonic``.
    progress : callable, optional
        Told what is being tried and the share of the time that has gone.
    stop : callable, optional
        Asked several times a second whether to give up.
    workers : int
        Attempts at the same time.  With one, the answer depends on the seed alone as long as it is
        found before the deadline; with more, also on which attempt is done first.

    Returns
    -------
    Solution, or Infeasible if it is proved that there is none, or ``None`` if the time ran out or
    `stop` said so.
    """
    started = time.monotonic()
    if started >= deadline or (stop is not None and stop()):
        return None
    task = problem(matrix, target, lower, upper)
    trivial = _trivial(task)
    if trivial is not None:
        return trivial
    control = Control(deadline)
    race = _Race(task, seed, control)
    threads = [
        threading.Thread(target=race.work, args=(i,), daemon=True) for i in range(max(1, workers))
    ]
    for thread in threads:
        thread.start()
    try:
        while not race.done.wait(_POLL_SECONDS):
            now = time.monotonic()
            if now >= deadline or (stop is not None and stop()):
                break
            if progress is not None:
                progress(f"attempt {race.number + 1}", (now - started) / (deadline - started))
    finally:  # also when `progress` raises, which is how callers cancel
        control.halt()
    patience = time.monotonic() + _GRACE_SECONDS
    for thread in threads:
        thread.join(max(0.0, patience - time.monotonic()))
    return race.result(time.monotonic() - started)


def sample_solutions(
    matrix: sp.csr_array,
    target: IntArray,
    lower: IntArray,
    upper: IntArray,
    n: int,
    *,
    deadline: float,
    seed: int,
    start: IntArray | None = None,
    weight: npt.NDArray[np.float64] | None = None,
    progress: Progress | None = None,
) -> list[IntArray]:
    """Up to `n` solutions, spread over the set of all solutions as well as time allows.

    Parameters
    ----------
    start : int array, optional
        A solution to begin with; otherwise one is sought.
    weight : float array, optional
        How probable each unknown is as the place of one row, in any unit: tables are drawn in
        proportion to the product over their rows.  By default all alike.
    progress : callable, optional
        Told how far it is, several times a second; may raise to cancel.

    Returns
    -------
    list of int arrays
        Fewer than `n` (perhaps none) if the time ran out; repeats are possible, and certain if the
        solution is unique.
    """
    task = problem(matrix, target, lower, upper)
    if n <= 0 or not task.n_unknowns:
        return [] if n <= 0 or _trivial(task) is None else [task.lower.copy()] * n
    if start is None:
        found = solve_component(
            matrix, target, lower, upper, deadline=deadline, seed=seed, progress=progress,
            workers=1,
        )  # fmt: skip
        if not isinstance(found, Solution):
            return []
        start = found.x
    z = np.asarray(start, dtype=np.int64) - task.lower
    if not task.solved_by(z):
        raise ValueError("start is not a solution")
    share = np.ones(task.n_unknowns) if weight is None else np.asarray(weight, dtype=np.float64)

    def told(done: float) -> None:
        if progress is not None:
            progress("sampling", done)

    return [task.lower + one for one in draw(task, z, n, share, Control(deadline), seed, told)]


def _trivial(task: Problem) -> Solution | Infeasible | None:
    """Answers that need no search."""
    if (task.upper < 0).any():
        return Infeasible("bounds that cross")
    if not (task.upper > 0).any():
        if (task.target != 0).any():
            return Infeasible("bounds that leave no choice")
        return Solution(task.lower.copy(), "bounds", 0.0)
    return None


class _Race:
    """Threads that take numbered attempts until one has an answer."""

    def __init__(self, task: Problem, seed: int, control: Control) -> None:
        self.task, self.seed, self.control = task, seed, control
        self.done = threading.Event()
        self.number = 0
        self._attempts: Attempts | None = None
        self._counter = itertools.count()
        self._lock = threading.Lock()
        self._answer: tuple[IntArray, str] | Infeasible | None = None
        self._error: BaseException | None = None

    def work(self, worker: int) -> None:
        try:
            with self._lock:
                if self._attempts is None:
                    self._attempts = Attempts(self.task, self.seed)
            while worker and not self._attempts.first_vertex_seen.wait(_POLL_SECONDS):
                if self.control.over():
                    return
            while not self.control.over():
                self.number = next(self._counter)
                answer = self._attempts.run(self.number, self.control)
                if answer is not None:
                    with self._lock:
                        self._answer = self._answer or answer
                    break
        except BaseException as error:  # raised again in the caller's thread
            self._error = error
        finally:
            if self._answer is not None or self._error is not None or self.control.over():
                self.done.set()
                self.control.halt()

    def result(self, seconds: float) -> Solution | Infeasible | None:
        if self._error is not None:
            raise self._error
        answer = self._answer
        if answer is None or isinstance(answer, Infeasible):
            return answer
        return Solution(self.task.lower + answer[0], answer[1], seconds)
