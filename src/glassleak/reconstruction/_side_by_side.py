"""Independent searches at once: compiled steps let each other run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from glassleak.reconstruction._survey import Progress

R = TypeVar("R")


def side_by_side(jobs: Sequence[Callable[[Progress], R]], tell: Progress) -> list[R]:
    """What each job returns; `tell` is called from this thread only, with the slowest job's news.

    Parameters
    ----------
    jobs : sequence of callables
        Each is given a progress callback of its own.  If `tell` raises, theirs do so too.
    tell : callable
    """
    news = [("", 0.0)] * len(jobs)
    cancelled = threading.Event()

    def work(k: int) -> R:
        def told(step: str, share: float) -> None:
            news[k] = (step, share)
            if cancelled.is_set():
                raise _CancelledError

        return jobs[k](told)

    with ThreadPoolExecutor(max(1, len(jobs))) as pool:
        futures = [pool.submit(work, k) for k in range(len(jobs))]
        try:
            while not all(future.done() for future in futures):
                step, share = min(news, key=lambda one: one[1])
                if step:
                    tell(step, share)
                time.sleep(0.05)
        except BaseException:
            cancelled.set()
            raise
    return [future.result() for future in futures]


class _CancelledError(Exception):
    """The caller raised from its progress callback."""
