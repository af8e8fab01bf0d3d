"""The best next rule for a greedy list: every conjunction of conditions, counted with bits.

Rows are ordered by class and every class starts a new word, so that the rows of each class a
conjunction captures are counted by adding up set bits over a range of words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak._compiled import compiled
from glassleak.learners._bits import ones

Words = npt.NDArray[np.uint64]
# Two scores closer than this share of a row are the same score with different rounding.
_SAME = 1e-9


@dataclass(frozen=True)
class BitTable:
    """Which rows satisfy which condition.

    Attributes
    ----------
    planes : (literals, words) array
    starts : (classes + 1) array
        The first word of each class.
    everybody : (words) array
        The bits that stand for a row.
    """

    planes: Words
    starts: npt.NDArray[np.int64]
    everybody: Words

    @staticmethod
    def of(holds: npt.NDArray[np.bool_], codes: npt.NDArray[np.int64], n_classes: int) -> BitTable:
        """Pack a (rows, literals) table."""
        sizes = np.bincount(codes, minlength=n_classes)
        starts = np.concatenate([[0], np.cumsum((sizes + 63) // 64)]).astype(np.int64)
        place = np.empty(len(codes), dtype=np.int64)
        for c in range(n_classes):
            place[codes == c] = starts[c] * 64 + np.arange(sizes[c])
        n_words = int(starts[-1])
        planes = np.zeros((holds.shape[1], n_words), dtype=np.uint64)
        line = np.zeros(n_words * 64, dtype=bool)
        for i in range(holds.shape[1]):
            line[place] = holds[:, i]
            planes[i] = np.packbits(line, bitorder="little").view("<u8")
        line[:] = False
        line[place] = True
        everybody = np.packbits(line, bitorder="little").view("<u8").astype(np.uint64)
        return BitTable(planes, starts, everybody)

    def captured(self, members: npt.NDArray[np.int64], alive: Words) -> Words:
        """Bits of the rows of `alive` for which all of `members` hold."""
        found: Words = alive & np.bitwise_and.reduce(self.planes[members], axis=0)
        return found


@dataclass(frozen=True)
class Limits:
    """What a rule must satisfy.

    Attributes
    ----------
    captured, rest : int
        Fewest rows it captures and leaves.
    table_low, table_high : int
        Fewest and most rows of the whole table its conditions hold for.
    """

    captured: int
    rest: int
    table_low: int
    table_high: int


def best_rule(
    table: BitTable, alive: Words, compatible: npt.NDArray[np.bool_], max_width: int,
    limits: Limits, pure: bool,
) -> npt.NDArray[np.int64] | None:  # fmt: skip
    """The conditions of the best next rule, or None if no rule may be added or helps.

    Parameters
    ----------
    alive : bits of the rows no earlier rule captured
    pure : bool
        Judge only the rows captured, and take a rule even if it does not improve the list.
    """
    if not len(table.planes):
        return None
    bounds = np.array(
        [limits.captured, limits.rest, limits.table_low, limits.table_high], dtype=np.int64
    )
    best = np.full(max_width, -1, dtype=np.int64)
    _search(table.planes, table.starts, alive, table.everybody, compatible, bounds, pure, best)
    return best[best >= 0] if best[0] >= 0 else None


@compiled
def _impurity(counts: Any, total: Any) -> float:
    """Gini impurity times the number of rows."""
    squares = 0.0
    for c in range(counts.shape[0]):
        squares += float(counts[c]) * float(counts[c])
    return total - squares / total if total > 0 else 0.0


@compiled
def _count(planes: Any, literal: int, mask: Any, starts: Any, counts: Any) -> int:
    total = 0
    for c in range(starts.shape[0] - 1):
        found = np.uint64(0)
        for w in range(starts[c], starts[c + 1]):
            found += ones(planes[literal, w] & mask[w])
        counts[c] = np.int64(found)
        total += counts[c]
    return total


@compiled
def _search(
    planes: Any, starts: Any, alive: Any, everybody: Any, compatible: Any, bounds: Any,
    pure: bool, best: Any,
) -> None:  # fmt: skip
    """Try all conjunctions of up to ``len(best)`` literals; write the best one's into `best`."""
    n_literals, n_words = planes.shape
    n_classes = starts.shape[0] - 1
    width = best.shape[0]
    # masks[d]: rows still there after the first d literals; whole[d]: the same on the full table.
    masks = np.zeros((width + 1, n_words), dtype=np.uint64)
    whole = np.zeros((width + 1, n_words), dtype=np.uint64)
    masks[0] = alive
    whole[0] = everybody
    chosen = np.full(width, -1, dtype=np.int64)
    everything = np.zeros(n_classes, dtype=np.int64)
    inside = np.zeros(n_classes, dtype=np.int64)
    outside = np.zeros(n_classes, dtype=np.int64)
    rows = 0
    for c in range(n_classes):
        for w in range(starts[c], starts[c + 1]):
            everything[c] += np.int64(ones(alive[w]))
        rows += everything[c]
    best_score = _impurity(everything, rows) - _SAME
    if pure:
        best_score = 2.0
    best_inside, best_rows = 2.0, 0
    # Shorter rules come first, so that equal scores keep the shorter one.
    for size in range(1, width + 1):
        depth = 0
        chosen[0] = -1
        while depth >= 0:
            chosen[depth] += 1
            literal = chosen[depth]
            if literal >= n_literals:
                depth -= 1
                continue
            fits = True
            for e in range(depth):
                if not compatible[chosen[e], literal]:
                    fits = False
                    break
            if not fits:
                continue
            total = _count(planes, literal, masks[depth], starts, inside)
            # Further conditions only remove rows.
            if total < bounds[0]:
                continue
            if depth + 1 < size:
                for w in range(n_words):
                    masks[depth + 1, w] = masks[depth, w] & planes[literal, w]
                    whole[depth + 1, w] = whole[depth, w] & planes[literal, w]
                depth += 1
                chosen[depth] = literal
                continue
            if total >= rows or rows - total < bounds[1]:
                continue
            if bounds[2] > 0:
                held = _count(planes, literal, whole[depth], starts, outside)
                if held < bounds[2] or held > bounds[3]:
                    continue
            for c in range(n_classes):
                outside[c] = everything[c] - inside[c]
            impure = _impurity(inside, total)
            share = impure / total
            score = share if pure else impure + _impurity(outside, rows - total)
            same = abs(score - best_score) <= (1e-12 if pure else _SAME)
            better = score < best_score and not same
            if same and best[0] >= 0 and not pure:
                # A condition and its negation split alike: stop with the purer, larger side.
                purer = share < best_inside - 1e-12
                better = purer or (share <= best_inside + 1e-12 and total > best_rows)
            if better:
                best_score, best_inside, best_rows = score, share, total
                for e in range(width):
                    best[e] = chosen[e] if e <= depth else -1
