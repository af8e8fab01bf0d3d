"""How uncertain the training set remains, given *all* trees of a forest or several models.

The paper counts the tables one tree or rule list leaves possible and leaves ensembles open (Section
IV-A: "mainly challenging when dealing with ensemble models").  Here a table is possible if it
reproduces the counts of every leaf of every tree.  What counts as one table, and why the figures
continue the paper's, is explained in `_piece`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from glassleak.errors import (
    InconsistentModelError,
    ModelTooLargeError,
    SchemaError,
    UnsupportedModelError,
)
from glassleak.knowledge import Known, Published, published
from glassleak.models import Forest, Model
from glassleak.schema import Schema
from glassleak.uncertainty._measures import columns_apart
from glassleak.uncertainty._result import Remaining, Status, Uncertainty
from glassleak.uncertainty.joint._bagged import REASON, bagged_singles, only_one_table
from glassleak.uncertainty.joint._bits import Bits, total
from glassleak.uncertainty.joint._count import Effort, bounded, exactly
from glassleak.uncertainty.joint._piece import KINDS, Kind, log2_ways
from glassleak.uncertainty.joint._system import Pieces, Single, pieces_of, singles

Progress = Callable[[str, float], None]
# Shares of the budget: for each tree alone, for cells, and for exact counting of all pieces.
_SINGLES_SHARE, _CELLS_SHARE, _EXACT_SHARE, _REPLAY_SHARE = 0.2, 0.4, 0.25, 0.8


def joint_uncertainty(
    models: Sequence[Model],
    schema: Schema,
    *,
    known: Known | None = None,
    columns_independent: bool = False,
    budget_seconds: float = 60.0,
    seed: int = 0,
    progress: Progress | None = None,
    effort: Effort | None = None,
) -> Uncertainty:
    """Count the tables consistent with every tree of every model.

    Parameters
    ----------
    models : sequence of models of the same training set
    known : Known, optional
        What the adversary knows besides.
    columns_independent : bool
        Take every column as an attribute of its own, as the paper does.
    effort : Effort, optional
        How hard to try.

    Returns
    -------
    Uncertainty
        With ``ordered`` and ``unordered_by_class`` figures and one line per tree in ``per_model``.

    Raises
    ------
    UnsupportedModelError
        Counts are noisy or missing, or the models differ in columns or classes.
    InconsistentModelError
        No table has these counts.
    SchemaError
        An attribute is continuous, so that tables cannot be counted.
    """
    started = time.monotonic()
    if not budget_seconds > 0:
        raise ValueError(f"budget_seconds must be positive, got {budget_seconds!r}")
    deadline = started + budget_seconds
    known, effort = known or Known(), effort or Effort()
    if known.labels_only:
        raise UnsupportedModelError("tables that fit labels alone are not counted yet")
    if columns_independent:
        schema = columns_apart(schema)
    n_profiles = schema.n_profiles
    if n_profiles is None:
        raise SchemaError("a continuous attribute has no number of values: declare its resolution")
    bagged = [one for one in models if isinstance(one, Forest) and one.bagging.kind != "none"]
    whole = [one for one in models if not any(one is other for other in bagged)]
    for one in models:
        schema.check_columns(one.columns)
    tell = progress or (lambda _step, _share: None)
    report = _Report(schema, n_profiles, columns_independent, started)
    for number, forest in enumerate(bagged):
        if known != Known():
            raise UnsupportedModelError("knowledge besides a bagged forest is not assessed")
        if (forest.columns, forest.classes) != (models[0].columns, models[0].classes):
            raise UnsupportedModelError("the models differ in columns or classes")
        prefix = f"bagged forest {number}, " if len(models) > 1 else ""
        found = bagged_singles(forest, schema, n_profiles)
        report.bagged += [(prefix + name, bits) for name, bits in found]
        report.n_rows = forest.n_rows or 0
    if not whole:
        tell("replaying the draws", 0.5)
        left = _REPLAY_SHARE * (deadline - time.monotonic())
        proof = only_one_table(bagged[0], schema, budget_seconds=left, seed=seed)
        return report.only_table(proof) if proof else report.only_bagged()
    facts = _checked(published(whole, known.nodes))
    tell("counting each tree alone", 0.0)
    until = started + _SINGLES_SHARE * budget_seconds
    report.single = singles(facts, schema, known, deadline=until)
    report.see(facts, known)
    if not facts.n_rows:
        return report.result({kind: Bits.known(0.0) for kind in KINDS}, {})
    try:
        tell("enumerating cells", 0.1)
        until = started + _CELLS_SHARE * budget_seconds
        pieces = pieces_of(facts, schema, known, deadline=until)
    except ModelTooLargeError as error:
        report.notes.append(f"only bounds from single trees: {error}")
        return report.result({kind: Bits(0.0, math.inf, False) for kind in KINDS}, {})
    bits = _bits_of(pieces, effort, deadline, seed, tell)
    return report.result(bits, pieces.details, pieces.left_out)


def _checked(facts: Published) -> Published:
    """`facts`, unless the parts disagree about how many rows there are."""
    for part in facts.parts:
        if bool((part.counts < 0).any()):
            continue
        rows = part.counts.sum(axis=0)
        if not np.array_equal(rows, facts.class_totals):
            raise InconsistentModelError(
                f"{rows.tolist()} rows by class, but {facts.class_totals.tolist()} in "
                f"{facts.parts[-1].name}: not models of the same training set",
                part.name,
            )
    return facts


def _bits_of(
    pieces: Pieces, effort: Effort, deadline: float, seed: int, tell: Progress
) -> dict[Kind, Bits]:
    """Exact counts first, for every piece; what is left over shares the remaining time."""
    found: list[dict[Kind, Bits]] = [{k: Bits.known(pieces.settled[k]) for k in KINDS}]
    hard = []
    until = time.monotonic() + _EXACT_SHARE * (deadline - time.monotonic())
    # The largest piece comes last and gets what the others did not need.
    for i, piece in enumerate(reversed(pieces.pieces)):
        tell("counting exactly", 0.3 + 0.2 * i / len(pieces.pieces))
        exact = exactly(piece, effort, until)
        if exact is None:
            hard.append(piece)
        else:
            found.append(exact)
    for i, piece in enumerate(hard):
        tell("bounding", 0.5 + 0.5 * i / len(hard))
        now = time.monotonic()
        share = max(0.0, deadline - now) / (len(hard) - i)
        found.append(bounded(piece, effort, now + share, seed))
    return {kind: total(one[kind] for one in found) for kind in KINDS}


class _Report:
    """Collects what the result says."""

    def __init__(
        self, schema: Schema, n_profiles: int, columns_independent: bool, started: float
    ) -> None:
        self.schema, self.n_profiles, self.started = schema, n_profiles, started
        self.columns_independent = columns_independent
        self.single: list[Single] = []
        self.bagged: list[tuple[str, float]] = []
        self.notes: list[str] = []
        self.n_rows = 0
        self.open_by_class: list[int] = []

    def see(self, facts: Published, known: Known) -> None:
        """Note how many rows there are to guess."""
        self.n_rows = facts.n_rows
        given = [0] * len(facts.classes)
        if known.rows is not None:
            listed = np.asarray(known.row_labels).tolist()
            given = [listed.count(label) for label in facts.classes]
        totals = facts.class_totals.tolist()
        self.open_by_class = [n - g for n, g in zip(totals, given, strict=True)]

    def only_table(self, proof: str) -> Uncertainty:
        """The answer when known draws leave one table."""
        nothing = Remaining(0.0, 0.0, self.n_rows * math.log2(self.n_profiles))
        self.notes.append(f"the stored seeds say which rows each tree drew: {proof}")
        return self._made("exact", "reconstruction with known draws", {"ordered": nothing}, {})

    def only_bagged(self) -> Uncertainty:
        """The answer when nothing but bagged forests was given."""
        self.notes.append(REASON)
        high = min([bits for _, bits in self.bagged] or [math.inf])
        uninformed = self.n_rows * math.log2(self.n_profiles)
        ordered = Remaining(0.0, min(high, uninformed), uninformed)
        method = "upper bound from the best single tree of a bagged forest"
        return self._made("bounded", method, {"ordered": ordered}, {})

    def result(
        self, bits: dict[Kind, Bits], details: dict[str, int], left_out: int = 0
    ) -> Uncertainty:
        """The answer, with every tree's own figure as one more upper bound."""
        uninformed: dict[Kind, float] = {
            "ordered": sum(self.open_by_class) * math.log2(self.n_profiles),
            "unordered": math.fsum(log2_ways(self.n_profiles, n) for n in self.open_by_class),
        }
        if left_out:
            # More trees only rule tables out: what fits some of them is at least as much.
            self.notes.append(
                f"{left_out} of {left_out + details.get('trees_used', 0)} trees are left out, "
                "for want of memory or time: the upper bound holds, the lower is 0"
            )
            bits = {k: Bits(0.0, b.high, b.exact and b.high == 0) for k, b in bits.items()}
        best, remaining = math.inf, {}
        for kind in KINDS:
            alone = [one.bits[kind] for one in self.single if kind in one.bits]
            if kind == "ordered":
                best = min(alone, default=math.inf)
                alone += [high for _, high in self.bagged]
            found = bits[kind].at_most(min([*alone, uninformed[kind]]))
            if self.bagged and not (found.exact and found.high == 0):
                # A bagged forest can only rule more out; how much more is not known.
                found = Bits(0.0, found.high, False)
            remaining[kind] = Remaining(found.low, found.high, uninformed[kind], found.guess)
        if self.bagged:
            self.notes.append(f"bagged forests: {REASON}")
        exact = all(one.exact for one in remaining.values())
        guessed = remaining["ordered"].estimate is not None
        status: Status = "exact" if exact else "estimated" if guessed else "bounded"
        method = _method(status, len(self.single), best)
        if guessed:
            error = bits["ordered"].error
            self.notes.append(
                f"the estimate has a standard error of about {error:.1g} bits; the bounds do not "
                "depend on it"
            )
        return self._made(status, method, {str(k): v for k, v in remaining.items()}, details)

    def _made(
        self, status: Status, method: str, found: dict[str, Remaining], details: dict[str, int]
    ) -> Uncertainty:
        lines = [
            {"model": one.name, "bits": one.bits["ordered"], "exact": True}
            for one in self.single
            if "ordered" in one.bits
        ]
        lines += [{"model": name, "bits": bits, "exact": False} for name, bits in self.bagged]
        table = pd.DataFrame(lines, columns=["model", "bits", "exact"])
        uninformed = found["ordered"].uninformed
        table.insert(2, "share", table["bits"] / uninformed if uninformed else 0.0)
        return Uncertainty(
            status=status,
            method=method,
            seconds=time.monotonic() - self.started,
            n_rows=self.n_rows,
            n_profiles=self.n_profiles,
            columns_independent=self.columns_independent,
            ordered=found["ordered"],
            unordered_by_class=found.get("unordered"),
            per_model=table,
            notes=tuple(self.notes),
            details=dict(details),
        )


def _method(status: Status, trees: int, best: float) -> str:
    of = f"tables consistent with all {trees} trees" if trees > 1 else "tables consistent with it"
    ways = {
        "exact": f"{of}, counted exactly",
        "bounded": f"{of}, between proved bounds",
        "estimated": f"{of}, estimated by sampling between proved bounds",
    }
    single = f"; the best single tree leaves {best:,.6g} bits" if trees > 1 else ""
    return ways[status] + single
