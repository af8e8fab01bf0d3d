"""Spread-out solutions: a few fresh starts in far corners, a random walk from each."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.residual._attempts import Attempts
from glassleak.reconstruction.residual._control import Control
from glassleak.reconstruction.residual._problem import Infeasible, IntArray, Problem

if TYPE_CHECKING:
    from glassleak.reconstruction.residual._walk import Walk

Told = Callable[[float], None]
_MAX_STARTS = 3
# Share of the time for fresh starts; walking is cheaper and needs less.
_STARTS_SHARE = 0.25
# Steps per row between two samples: about fifty chances for every row to move.
_STEPS_PER_ROW = 5
_STEPS_AT_ONCE = 25
_TRIAL_STEPS = 100


def draw(
    task: Problem,
    first: IntArray,
    n: int,
    weight: npt.NDArray[np.float64],
    control: Control,
    seed: int,
    told: Told,
) -> list[IntArray]:
    """Up to `n` solutions, walks from different starts taking turns.

    `told` hears the share of samples drawn, several times a second, and may raise to cancel.
    """
    loading = compiled_code()
    starts = [first, *_fresh_starts(task, min(n, _MAX_STARTS) - 1, control, seed, told)]
    if int(first.sum()) < 2:
        return (starts * n)[:n]
    while not loading.wait(0.05):
        if control.over():
            return starts[:n]
        told(0.0)
    from glassleak.reconstruction.residual._walk import Walk, Walker

    walker = Walker(task, weight)
    walks = [Walk(walker, start, seed + i) for i, start in enumerate(starts)]
    wanted = _STEPS_PER_ROW * int(first.sum())
    pace = _warm_up(walks, wanted, control, told)
    samples: list[IntArray] = []
    for i in range(n):
        walk = walks[i % len(walks)]
        # When time is short, samples closer together rather than fewer.
        affordable = int(control.left() / (n - i) / pace)
        steps = max(_STEPS_AT_ONCE, min(wanted, affordable))
        while steps > 0 and not control.over():
            walk.go(min(steps, _STEPS_AT_ONCE))
            steps -= _STEPS_AT_ONCE
            told(i / n)
        if steps > 0 and i >= len(walks):
            break
        samples.append(walk.z.copy() if task.solved_by(walk.z) else starts[i % len(walks)])
    return samples


def _warm_up(walks: list[Walk], wanted: int, control: Control, told: Told) -> float:
    """Leave the starts behind and find out what is affordable; returns seconds per step."""
    started, steps = time.monotonic(), 0
    for walk in walks:
        for _ in range(_TRIAL_STEPS // _STEPS_AT_ONCE):
            if not control.over():
                walk.go(_STEPS_AT_ONCE)
                steps += _STEPS_AT_ONCE
                told(0.0)
        walk.settle()
    until = Control(time.monotonic() + 0.2 * control.left())
    for walk in walks:
        for _ in range(2 * wanted // _STEPS_AT_ONCE):
            if until.over():
                break
            walk.go(_STEPS_AT_ONCE)
            steps += _STEPS_AT_ONCE
            told(0.0)
    return (time.monotonic() - started) / max(1, steps)


def _fresh_starts(
    task: Problem, n: int, control: Control, seed: int, told: Told
) -> Iterator[IntArray]:
    """Solutions by independent attempts, until `n` or their share of the time has gone."""
    now = time.monotonic()
    until = Control(now + _STARTS_SHARE * max(0.0, control.deadline - now))
    if n <= 0 or until.over():
        return
    attempts = Attempts(task, seed + 1)
    for number in itertools.count():
        if n <= 0 or until.over():
            return
        told(0.0)
        if attempts.on_the_whole(number):
            continue
        answer = attempts.run(number, until)
        if answer is not None and not isinstance(answer, Infeasible):
            n -= 1
            yield answer[0]


_loaded = threading.Event()
_loading = threading.Lock()


def compiled_code() -> threading.Event:
    """Start loading the compiled walk in the background; the event is set when it is there.

    The first time ever it has to be compiled, which takes seconds and cannot be interrupted:
    nobody should have to wait for it beyond a deadline.
    """
    if not _loaded.is_set() and _loading.acquire(blocking=False):
        threading.Thread(target=_load, daemon=True).start()
    return _loaded


def _load() -> None:
    import scipy.sparse as sp

    from glassleak.reconstruction.residual._problem import problem
    from glassleak.reconstruction.residual._walk import Walk, Walker

    one, two = np.ones(1, np.int64), np.full(2, 2, np.int64)
    tiny = problem(sp.csr_array(np.ones((1, 2), np.int64)), 2 * one, two * 0, two)
    walk = Walk(Walker(tiny, np.ones(2)), np.array([1, 1]), 0)
    walk.go(1)
    walk.descend(1, np.zeros((2, 2), np.float32))
    _loaded.set()
