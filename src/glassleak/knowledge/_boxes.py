"""Boxes of profiles as bits: one bit per class of levels of every attribute.

Attributes are packed into 64-bit words, so that a table of thirty yes/no columns is one word and
cutting a million boxes is a handful of array operations.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import BudgetExhaustedError, ModelTooLargeError
from glassleak.knowledge._compare import is_low
from glassleak.knowledge._parts import Decisions, Part, Published
from glassleak.knowledge._space import Block, Space

Boxes = npt.NDArray[np.uint64]
_WORD = 64
_ONE = np.uint64(1)


@dataclass(frozen=True)
class Masks:
    """The tests of a part on bits.

    Attributes
    ----------
    words : (nodes, pieces) int array
        Where the bits of the tested attribute are.
    low, block : (nodes, pieces) arrays
        The bits that go low, and all bits of the attribute.
    n_pieces : int array
        How many pieces count at each node.
    """

    words: npt.NDArray[np.int64]
    low: Boxes
    block: Boxes
    n_pieces: npt.NDArray[np.int64]


class BoxSpace:
    """Where each attribute's bits are, and how tests cut them."""

    def __init__(self, space: Space, facts: Published) -> None:
        self.space, self.facts = space, facts
        # A block longer than a word takes several; `pieces[b]` lists (word, shift, start, stop).
        self.pieces: list[list[tuple[int, int, int, int]]] = []
        word, used = 0, 0
        for block in space.blocks:
            own: list[tuple[int, int, int, int]] = []
            start = 0
            if used + len(block) > _WORD and used:
                word, used = word + 1, 0
            while start < len(block):
                stop = min(len(block), start + _WORD - used)
                own.append((word, used, start, stop))
                used += stop - start
                start = stop
                if used == _WORD and start < len(block):
                    word, used = word + 1, 0
            self.pieces.append(own)
            if used == _WORD:
                word, used = word + 1, 0
        self.n_words = 1 + max(piece[0] for own in self.pieces for piece in own)
        self.max_pieces = max(len(own) for own in self.pieces)
        self.block_of = np.full(space.n_columns, -1, dtype=np.int64)
        for b, block in enumerate(space.blocks):
            self.block_of[block.columns] = b

    def everything(self) -> Boxes:
        """The one box of all profiles."""
        box = np.zeros((1, self.n_words), dtype=np.uint64)
        for own in self.pieces:
            for word, shift, start, stop in own:
                box[0, word] |= _ones(stop - start) << np.uint64(shift)
        return box

    def cut(
        self,
        boxes: Boxes,
        part: Part,
        limit: int,
        deadline: float = math.inf,
        masks: Masks | None = None,
    ) -> tuple[Boxes, npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Cut every box along the tests of `part`.

        Parameters
        ----------
        masks : Masks, optional
            What `masks_of` says about the part, when several sets of boxes are cut.

        Returns
        -------
        boxes, source, group
            The pieces, the box each came from, and the group each lies in.

        Raises
        ------
        ModelTooLargeError
            More than `limit` pieces.
        BudgetExhaustedError
            The deadline passed.
        """
        tests = part.decisions
        masks = masks or self.masks_of(part, deadline)
        node = np.zeros(len(boxes), dtype=np.int32)
        source = np.arange(len(boxes))
        done = [(boxes[:0], source[:0], node[:0])]
        finished = 0
        while len(boxes):
            ended = tests.group[node] >= 0
            if ended.any():
                done.append((boxes[ended], source[ended], tests.group[node[ended]]))
                finished += int(ended.sum())
                going = ~ended
                boxes, node, source = boxes[going], node[going], source[going]
                if not len(boxes):
                    break
            boxes, node, source = self._step(boxes, node, source, tests, masks)
            if finished + len(boxes) > limit:
                raise ModelTooLargeError(f"more than {limit:,} cells remain possible")
            in_time(deadline, finished + len(boxes))
        pieces, sources, groups = zip(*done, strict=True)
        return np.concatenate(pieces), np.concatenate(sources), np.concatenate(groups)

    def _step(
        self,
        boxes: Boxes,
        node: npt.NDArray[np.int32],
        source: npt.NDArray[np.int64],
        tests: Decisions,
        masks: Masks,
    ) -> tuple[Boxes, npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        has_low = np.zeros(len(boxes), dtype=bool)
        has_high = np.zeros(len(boxes), dtype=bool)
        width = masks.n_pieces[node]
        for k in range(int(width.max())):
            rows = np.flatnonzero(width > k)
            at = node[rows]
            held = boxes[rows, masks.words[at, k]] & masks.block[at, k]
            has_low[rows] |= (held & masks.low[at, k]) != 0
            has_high[rows] |= (held & ~masks.low[at, k]) != 0
        out = []
        for taken, following in ((has_low, tests.low), (has_high, tests.high)):
            index = np.flatnonzero(taken)
            piece, at = boxes[index], node[index]
            for k in range(int(width[index].max(initial=0))):
                rows = np.flatnonzero(width[index] > k)
                here = at[rows]
                removed = masks.low[here, k]
                if following is tests.low:
                    removed = masks.block[here, k] & ~removed
                piece[rows, masks.words[here, k]] &= ~removed
            out.append((piece, following[at], source[index]))
        return (
            np.concatenate([o[0] for o in out]),
            np.concatenate([o[1] for o in out]),
            np.concatenate([o[2] for o in out]),
        )

    def masks_of(self, part: Part, deadline: float = math.inf) -> Masks:
        """For every node: the words of its attribute, the bits that go low, and all its bits."""
        tests = part.decisions
        n_nodes = len(tests.column)
        words = np.zeros((n_nodes, self.max_pieces), dtype=np.int64)
        low_masks = np.zeros((n_nodes, self.max_pieces), dtype=np.uint64)
        block_masks = np.zeros((n_nodes, self.max_pieces), dtype=np.uint64)
        n_pieces = np.ones(n_nodes, dtype=np.int64)
        for column in np.unique(tests.column[tests.column >= 0]).tolist():
            in_time(deadline, 0)
            nodes = np.flatnonzero(tests.column == column)
            b = int(self.block_of[column])
            block = self.space.blocks[b]
            goes_low = self._goes_low(block, column, tests, nodes)
            n_pieces[nodes] = len(self.pieces[b])
            for k, (word, shift, start, stop) in enumerate(self.pieces[b]):
                words[nodes, k] = word
                bits = _ONE << np.arange(shift, shift + stop - start, dtype=np.uint64)
                chosen = np.where(goes_low[start:stop].T, bits, np.uint64(0))
                low_masks[nodes, k] = np.bitwise_or.reduce(chosen, axis=1)
                block_masks[nodes, k] = np.bitwise_or.reduce(bits)
        return Masks(words, low_masks, block_masks, n_pieces)

    def _goes_low(
        self, block: Block, column: int, tests: Decisions, nodes: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """(classes of levels, nodes): which side every class takes at every node."""
        position = int(np.flatnonzero(block.columns == column)[0])
        value = block.values[:, position, None]
        cut = tests.threshold[nodes][None, :]
        low = is_low(value, cut, self.facts.precision, self.facts.comparison)
        return np.where(np.isnan(value), tests.missing_low[nodes][None, :], low)

    def describe(
        self,
        boxes: Boxes,
        cell_of: npt.NDArray[np.int64],
        n_cells: int,
        deadline: float = math.inf,
    ) -> tuple[
        npt.NDArray[np.int64],
        npt.NDArray[np.int32],
        list[int] | None,
        npt.NDArray[np.float64],
    ]:
        """Per cell: its largest box, a profile, and its profiles, exactly and as told apart."""
        blocks = self.space.blocks
        profile = np.empty((len(boxes), len(blocks)), dtype=np.int32)
        told_apart = np.ones(len(boxes))
        factors: list[npt.NDArray[np.object_]] = []
        finite = all(block.sizes is not None for block in blocks)
        for b, block in enumerate(blocks):
            in_time(deadline, len(boxes))
            bits = self.bits(boxes, b)
            sizes = np.ones(len(block)) if block.sizes is None else np.array(
                [float(s) for s in block.sizes]
            )  # fmt: skip
            # Of several classes of levels the one with most levels is the best guess.
            profile[:, b] = np.argmax(np.where(bits, sizes, 0.0), axis=1)
            told_apart *= bits.sum(axis=1)
            if block.sizes is not None and (len(block) > 1 or block.sizes[0] != 1):
                exact = np.array(block.sizes, dtype=object)
                total = bits.astype(object) @ exact if max(block.sizes) > 2**40 else (
                    bits @ np.array(block.sizes, dtype=np.int64)
                ).astype(object)  # fmt: skip
                factors.append(total)
        # Written smallest first, so that the largest box of each cell is what stays.
        order = np.argsort(told_apart, kind="stable")
        largest = np.empty(n_cells, dtype=np.int64)
        largest[cell_of[order]] = order
        apart = np.zeros(n_cells)
        np.add.at(apart, cell_of, told_apart)
        if not finite:
            return largest, profile[largest], None, apart
        return largest, profile[largest], self._sizes(factors, cell_of, n_cells, deadline), apart

    def _sizes(
        self,
        factors: list[npt.NDArray[np.object_]],
        cell_of: npt.NDArray[np.int64],
        n_cells: int,
        deadline: float,
    ) -> list[int]:
        """Profiles per cell, exactly: the sum over its boxes of the product of `factors`."""
        everything = math.prod(sum(block.sizes or ()) for block in self.space.blocks)
        if everything < 2**62:  # then so are all products and sums of disjoint boxes
            product = np.ones(len(cell_of), dtype=np.int64)
            for factor in factors:
                product *= factor.astype(np.int64)
            total = np.zeros(n_cells, dtype=np.int64)
            np.add.at(total, cell_of, product)
            return [int(n) for n in total]
        n_profiles = [0] * n_cells
        for start in range(0, len(cell_of), 100_000):
            in_time(deadline, len(cell_of))
            some = slice(start, start + 100_000)
            columns = [factor[some].tolist() for factor in factors]
            for cell, *own in zip(cell_of[some].tolist(), *columns, strict=True):
                n_profiles[cell] += math.prod(own)
        return n_profiles

    def bits(self, boxes: Boxes, b: int) -> npt.NDArray[np.bool_]:
        """(boxes, classes of levels) of block `b`."""
        out = np.empty((len(boxes), len(self.space.blocks[b])), dtype=bool)
        for word, shift, start, stop in self.pieces[b]:
            shifts = np.arange(shift, shift + stop - start, dtype=np.uint64)
            out[:, start:stop] = (boxes[:, word, None] >> shifts) & _ONE
        return out


def _ones(count: int) -> np.uint64:
    return np.uint64((1 << count) - 1)


def in_time(deadline: float, n_boxes: int) -> None:
    """Raise `BudgetExhaustedError` when the deadline has passed."""
    if time.monotonic() > deadline:
        raise BudgetExhaustedError(
            f"the budget was spent on finding the possible cells ({n_boxes:,} and more)"
        )
