"""Spread-out solutions: fresh starts in far corners, a random walk from each to the middle."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from glassleak.reconstruction.residual._attempts import Attempts
from glassleak.reconstruction.residual._control import Control
from glassleak.reconstruction.residual._problem import Infeasible, IntArray, Problem

_MAX_STARTS = 8
# Share of the time for fresh starts; walking is cheaper and needs less.
_STARTS_SHARE = 0.6
# Steps per row between two samples of one walk, so that every row has had many chances to move.
_STEPS_PER_ROW = 50
_STEPS_AT_ONCE = 200


def draw(
    task: Problem,
    first: IntArray,
    n: int,
    weight: npt.NDArray[np.float64],
    control: Control,
    seed: int,
    stop: Callable[[], bool] | None,
) -> list[IntArray]:
    """Up to `n` solutions, walks from different starts taking turns."""
    starts = [first, *_fresh_starts(task, min(n, _MAX_STARTS) - 1, control, seed, stop)]
    if int(first.sum()) < 2:
        return (starts * n)[:n]
    # Imported here: compiled code takes a while to load, and most models never need it.
    from glassleak.reconstruction.residual._walk import Walk, Walker

    walker = Walker(task, weight)
    walks = [Walk(walker, start, seed + i) for i, start in enumerate(starts)]
    samples: list[IntArray] = []
    for i in range(n):
        walk = walks[i % len(walks)]
        left = _STEPS_PER_ROW * int(first.sum())
        while left > 0 and not (control.over() or (stop is not None and stop())):
            walk.go(min(left, _STEPS_AT_ONCE))
            left -= _STEPS_AT_ONCE
        if left > 0 and i >= len(walks):
            break
        # A collision of 64-bit marks would show here.
        samples.append(walk.z.copy() if task.solved_by(walk.z) else starts[i % len(walks)])
    return samples


def _fresh_starts(
    task: Problem, n: int, control: Control, seed: int, stop: Callable[[], bool] | None
) -> Iterator[IntArray]:
    """Solutions by independent attempts, until `n` or their share of the time has gone."""
    now = time.monotonic()
    until = Control(now + _STARTS_SHARE * max(0.0, control.deadline - now))
    if n <= 0 or until.over():
        return
    attempts = Attempts(task, seed + 1)
    for number in itertools.count():
        if n <= 0 or until.over() or (stop is not None and stop()):
            return
        if attempts.on_the_whole(number):
            continue
        answer = attempts.run(number, until)
        if answer is not None and not isinstance(answer, Infeasible):
            n -= 1
            yield answer[0]
