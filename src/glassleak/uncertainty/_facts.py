"""What knowledge of the learner adds: tables its choices rule out (the paper's future work).

A greedy learner made, in every node, the best split there was.  A table in which another split
would have been better cannot be the training set.  Attributes are independent given the leaves, so
the share of tables that remain is a product over attributes (see `_facts_share`).  For a yes/no
attribute the share is exact.  An attribute with several splits has a share of at most that of its
most telling split, and at least 1 minus the shares its splits rule out one by one; between these it
is estimated by drawing tables.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import pandas as pd

from glassleak.errors import InconsistentModelError
from glassleak.models import Tree
from glassleak.schema import Attribute, Schema
from glassleak.uncertainty._facts_gate import learner_facts
from glassleak.uncertainty._facts_questions import Questions, questions_of
from glassleak.uncertainty._facts_sampled import Hits, draw_tables
from glassleak.uncertainty._facts_share import Judge, Share, share_of
from glassleak.uncertainty._measures import columns_apart
from glassleak.uncertainty._result import Remaining, Status
from glassleak.uncertainty._uncertainty import uncertainty

_DRAWS = 4000


@dataclass(frozen=True)
class LearnerKnowledge:
    """Remaining uncertainty for somebody who also knows how the tree was learned.

    Attributes
    ----------
    applies : bool
        Whether the settings allow to use the facts at all.
    reason : str
        Why, or why not.
    status : "exact", "bounded" or "estimated"
    without, remaining : Remaining
        Ordered tables that fit the counts; and those the learner could have seen as well.
    per_attribute : DataFrame
        ``attribute``, ``splits`` compared, bits ruled out: ``bits_low`` and ``bits_high`` (proved),
        ``bits_estimate``, ``exact``.
    seconds : float
    notes : tuple of str
    """

    applies: bool
    reason: str
    status: Status
    without: Remaining
    remaining: Remaining
    per_attribute: pd.DataFrame
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def bits_ruled_out(self) -> float:
        """Bits the learner's choices take away: exact, estimated, or else at least this many."""
        if self.status == "bounded":
            return max(0.0, self.without.low - self.remaining.high)
        return self.without.bits - self.remaining.bits


def learner_uncertainty(
    tree: Tree,
    schema: Schema,
    *,
    columns_independent: bool = False,
    budget_seconds: float = 60.0,
    seed: int = 0,
) -> LearnerKnowledge:
    """Count the tables a greedy learner could have made `tree` from.

    Raises
    ------
    InconsistentModelError
        No table would have led the learner to this tree.
    """
    started = time.monotonic()
    deadline = started + budget_seconds
    plain = uncertainty(
        tree, schema, columns_independent=columns_independent, budget_seconds=budget_seconds
    )
    assert plain.ordered is not None
    facts, reason = learner_facts(tree)
    lines: list[_Line] = []
    if facts is not None:
        used = columns_apart(schema) if columns_independent else schema
        judge = Judge(tree, facts)
        lines = [_line(judge, tree, attribute, deadline, seed) for attribute in used]
    for line in lines:
        if line.share.high <= 1e-289:
            raise InconsistentModelError(
                "no table would have led the learner to these splits, by the attribute "
                f"{line.name!r}: the settings or the schema are not those of the training"
            )
    remaining, status = _remaining(plain.ordered, lines)
    notes = tuple(
        f"the attribute {line.name!r} is left out: {line.left_out}"
        for line in lines
        if line.left_out
    )
    if any(line.hits is not None for line in lines):
        notes += (f"estimates rest on {_DRAWS:,} tables drawn for each attribute",)
    return LearnerKnowledge(
        facts is not None, reason, status, plain.ordered, remaining, _table(lines),
        time.monotonic() - started, notes,
    )  # fmt: skip


@dataclass(frozen=True)
class _Line:
    """What is known about one attribute; `bits`: its share of the bits the counts leave."""

    name: str
    splits: int
    share: Share
    bits: float | None
    hits: Hits | None = None
    left_out: str = ""

    @property
    def bits_low(self) -> float | None:
        """At least how many of its bits remain; there is the training table itself, so never < 0.

        ``None`` where it is not even known how many bits the attribute had.
        """
        if self.share.low > 0:
            proved = math.log2(self.share.low)
            return proved if self.bits is None else max(proved, -self.bits)
        return None if self.bits is None else -self.bits

    @property
    def estimate(self) -> float | None:
        """Best guess of the share, where it is not exact and there is one."""
        if self.hits is None or not self.hits.hits:
            return None
        return min(max(self.hits.hits / self.hits.draws, self.share.low), self.share.high)


def _line(judge: Judge, tree: Tree, attribute: Attribute, deadline: float, seed: int) -> _Line:
    questions = questions_of(tree, attribute)
    if questions is None:
        return _Line(
            attribute.name, 0, Share(0.0, 1.0, False), None, left_out="its splits are too many"
        )
    shares: list[Share] = []
    for q in range(len(questions.low)):
        if time.monotonic() > deadline:
            break
        shares.append(share_of(judge, questions, q))
    together = _together(questions, shares)
    hits = None
    small = questions.allowed.size * judge.counts.shape[1] * _DRAWS < 5e8
    if not together.exact and small and time.monotonic() < deadline:
        hits = draw_tables(judge, questions, _DRAWS, seed)
    levels = questions.allowed[tree.leaves].sum(axis=1).tolist()
    rows = judge.counts[tree.leaves].sum(axis=1).tolist()
    bits = math.fsum(k * math.log2(n) for n, k in zip(levels, rows, strict=True) if k and n)
    return _Line(attribute.name, len(shares), together, bits, hits)


def _together(questions: Questions, shares: list[Share]) -> Share:
    """Bounds for all splits at once: the best one alone, and the union bound."""
    if not len(questions.low):
        return Share(1.0, 1.0, True)
    high = min((share.high for share in shares), default=1.0)
    complete = questions.every and len(shares) == len(questions.low)
    complete = complete and all(share.exact for share in shares)
    if complete and len(shares) == 1:
        return Share(shares[0].low, high, True)
    low = 1.0 - math.fsum(1.0 - share.low for share in shares) if complete else 0.0
    return Share(max(0.0, low - 1e-12), high, False)


def _remaining(plain: Remaining, lines: list[_Line]) -> tuple[Remaining, Status]:
    if not lines:
        return plain, "exact" if plain.exact else "bounded"
    if plain.exact and all(line.share.exact for line in lines):
        bits = plain.low + math.fsum(math.log2(line.share.high) for line in lines)
        return Remaining(max(0.0, bits), max(0.0, bits), plain.uninformed), "exact"
    high = plain.high + math.fsum(math.log2(line.share.high) for line in lines)
    kept = [least for line in lines if (least := line.bits_low) is not None]
    low = plain.low + math.fsum(kept) if len(kept) == len(lines) else 0.0
    guesses = [line.share.high if line.share.exact else line.estimate for line in lines]
    known = [guess for guess in guesses if guess]
    guess = None
    if len(known) == len(lines):
        guess = min(max(plain.bits + math.fsum(map(math.log2, known)), low, 0.0), high)
    status: Status = "bounded" if guess is None else "estimated"
    return Remaining(max(0.0, low), max(0.0, high), plain.uninformed, guess), status


def _table(lines: list[_Line]) -> pd.DataFrame:
    def bits(share: float | None) -> float | None:
        return None if share is None else (-math.log2(share) if share > 0 else math.inf)

    rows = [
        {
            "attribute": line.name,
            "splits": line.splits,
            "bits_low": bits(line.share.high),
            "bits_high": None if line.bits_low is None else -line.bits_low,
            "bits_estimate": bits(line.share.high if line.share.exact else line.estimate),
            "exact": line.share.exact,
        }
        for line in lines
    ]
    columns = ["attribute", "splits", "bits_low", "bits_high", "bits_estimate", "exact"]
    return pd.DataFrame(rows, columns=columns)
