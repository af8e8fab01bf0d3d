"""What remains uncertain when the counts carry noise.

Noise of unbounded range excludes no table, so nothing is left to count.  What can be said is what
remains for an attacker who takes the most likely counts for the true ones, and between which bounds
that lies whatever the counts are.  For models of glassleak's own private learners there is also a
promise that holds against every attacker (`promised_bits`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from glassleak.counting import log2_multisets
from glassleak.knowledge import most_likely
from glassleak.models import Exact, Model, Noisy, RuleList, Tree
from glassleak.uncertainty._groups import Groups
from glassleak.uncertainty._result import Remaining, Uncertainty

Count = Callable[[Tree | RuleList], Groups]

_ADDED = ("low", "high", "uninformed", "bits")

_NOISE = (
    "the counts carry {mechanism} noise of scale {scale:g}: every table is possible, and the "
    "figures are those of the most likely counts, an estimate about groups and not about persons"
)
_NO_PROMISE = (
    "an epsilon of {epsilon:g} promises nothing here: it allows {bits:.3g} bits about a person, "
    "and there are only {whole:.3g}"
)
_PROMISE = (
    "if the model's claim of pure differential privacy with epsilon {epsilon:g} is true, it says "
    "at most {bits:.3g} bits about anybody, whatever an attacker does"
)


def is_hidden(model: Model) -> bool:
    """Whether numbers of people are only published with noise."""
    return (
        isinstance(model, Tree | RuleList)
        and isinstance(model.counts, Noisy)
        and model.people is None
    )


def likely_model(model: Tree | RuleList, count: Count) -> Tree | RuleList:
    """The model with its most likely counts; nobody is where no profile leads."""
    shape = np.asarray(model.counts.values).shape if isinstance(model.counts, Noisy) else (0, 0)
    empty = replace(model, counts=Exact(np.zeros(shape, dtype=np.int64)))
    groups = count(empty)
    reached = {n for n, c in zip(groups.numbers.tolist(), groups.counts, strict=True) if c.high}
    places = range(shape[0]) if isinstance(model, RuleList) else model.leaves.tolist()
    return most_likely(model, model.n_rows, np.array([place in reached for place in places]))


def flagged(found: Uncertainty, model: Tree | RuleList, groups: Groups) -> Uncertainty:
    """`found`, made from the most likely counts, as the estimate it is."""
    assert isinstance(model.counts, Noisy)
    smallest = min((c.low for c in groups.counts if c.low), default=1)
    by_class = None if groups.class_rows is None else groups.class_rows.sum(axis=0).tolist()
    notes = [_NOISE.format(mechanism=model.counts.mechanism, scale=model.counts.scale)]
    details = dict(found.details) | {"noise_scale": model.counts.scale}
    epsilon = claimed_epsilon(model)
    if epsilon is not None:
        promised = promised_bits(epsilon)
        whole = math.log2(max(1, found.n_profiles))
        promise = _PROMISE if promised < whole else _NO_PROMISE
        notes.append(promise.format(epsilon=epsilon, bits=promised, whole=whole))
        details["bits_per_person_at_most"] = promised
    return replace(
        found,
        status="estimated",
        method=f"most likely counts; {found.method}",
        # Sums of concave functions of the counts are least where everybody is in one group.
        ordered=_within(found.ordered, found.n_rows * math.log2(smallest)),
        unordered=_within(found.unordered, log2_multisets(smallest, found.n_rows)),
        unordered_by_class=_within(
            found.unordered_by_class,
            math.fsum(log2_multisets(smallest, rows) for rows in by_class or ()),
        ),
        # Which leaf or group is small, or pins somebody down, is what noise hides.
        per_leaf=None,
        exposure=None,
        by_group=None,
        dataset=None,
        notes=(*found.notes, *notes),
        details=details,
    )


def together(found: Sequence[Uncertainty], seconds: float) -> Uncertainty:
    """A private forest, in which nobody is in two trees: what remains adds up."""
    people = sum(one.n_rows for one in found)
    parts = [one.main for one in found]
    added = Remaining(*(math.fsum(getattr(part, name) for part in parts) for name in _ADDED))
    dist = None
    if people and all(one.dist is not None for one in found):
        dist = math.fsum(one.n_rows * (one.dist or 0.0) for one in found) / people
    table = pd.DataFrame(
        {"model": f"tree {i}", "bits": one.bits, "share": one.dist_g, "exact": False}
        for i, one in enumerate(found)
    )
    return replace(
        found[0],
        seconds=seconds,
        n_rows=people,
        method=f"tree by tree, since nobody is in two of them; {found[0].method}",
        ordered=added,
        # As multisets, people of different trees could be exchanged: not a sum.
        unordered=None,
        unordered_by_class=None,
        conventions=None,
        dist=dist,
        per_model=table,
    )


def _within(found: Remaining | None, low: float) -> Remaining | None:
    if found is None:
        return None
    return Remaining(min(low, found.bits), found.uninformed, found.uninformed, found.bits)


def claimed_epsilon(model: Tree | RuleList) -> float | None:
    """The budget a model of glassleak's private learners says it was trained with."""
    made = model.provenance
    epsilon = made.settings.get("epsilon")
    ours = made.library == "glassleak" and made.estimator.startswith("Private")
    # With a delta the bound would not hold.
    ours = ours and "Gaussian" not in getattr(model.counts, "mechanism", "")
    if not ours or isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
        return None
    return float(epsilon) if 0 < epsilon < math.inf else None


def promised_bits(epsilon: float) -> float:
    """Most bits a pure epsilon-private model can carry about one person, given all others.

    Replacing a person is a removal and an addition, so outputs differ by a factor of at most
    ``exp(2 epsilon)`` between any two values of theirs.  Two distributions with such a ratio have a
    Kullback-Leibler divergence of at most ``2 epsilon tanh(epsilon)``, which bounds the mutual
    information between the person's values and the model; divided by ln 2 for bits.
    """
    return 2 * epsilon * math.tanh(epsilon) / math.log(2)
