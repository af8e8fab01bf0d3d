"""Estimate the training set of a bagged forest when nobody knows which rows each tree drew."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError
from glassleak.knowledge import Known
from glassleak.models import Forest
from glassleak.reconstruction.bagged._chain import SEARCH_PENALTY, Chain
from glassleak.reconstruction.bagged._evidence import Evidence, evidence_of
from glassleak.reconstruction.bagged._leaf_terms import leaves_of
from glassleak.reconstruction.bagged._moves import Places, Table, places_of
from glassleak.reconstruction.bagged._prior import Kinds
from glassleak.reconstruction.bagged._profiles import Profiles, enumerate_profiles
from glassleak.reconstruction.bagged._relaxation import Relaxation, relax
from glassleak.reconstruction.bagged._side import RowGroups, check_known, extra_cuts, row_groups
from glassleak.schema import Schema

IntArray = npt.NDArray[np.int64]
Progress = Callable[[str, float], None]
# A place is left out when a row there would cost the relaxation this much log-likelihood.
_LOSS = 4.0
_MOST_PLACES = 8_000
# Shallow forests leave more open; then places are tried at random.
_MOST_PLACES_TRIED = 60_000
_LEAST_PER_GROUP = 40
_CHAINS = 2
_LEVELS = 60
# A chain that ends this far below the other is stuck, and its tables are not used.
_STUCK = 12.0


@dataclass(frozen=True)
class BaggedHistogram:
    """Tables drawn from the posterior of a bagged forest's training set.

    Attributes
    ----------
    evidence : Evidence
    profiles : Profiles
    groups : RowGroups
    profile, label : (places,) int arrays
        The (profile, class) pairs that were considered.
    samples : (k, rows) int array
        The place of every row, once per sampled table.
    log_likelihood : (k,) float array
        Of the samples, up to a constant that is the same for all.
    best : int
        The sample with the largest posterior probability.
    details : dict
    """

    evidence: Evidence
    profiles: Profiles
    groups: RowGroups
    profile: IntArray
    label: IntArray
    samples: IntArray
    log_likelihood: npt.NDArray[np.float64]
    best: int
    details: dict[str, Any]

    def rows(self, sample: int | None = None) -> tuple[npt.NDArray[np.float64], IntArray]:
        """The table (in the model's columns) and the class numbers of a sample (the best one)."""
        at = self.samples[self.best if sample is None else sample]
        return self.profiles.values(self.profile[at]), self.label[at]


def estimate_histogram(
    forest: Forest,
    schema: Schema,
    known: Known | None = None,
    *,
    n_rows: int | None = None,
    deadline: float = float("inf"),
    seed: int = 0,
    n_samples: int | None = None,
    progress: Progress | None = None,
) -> BaggedHistogram:
    """Draw training sets from their posterior given a bagged forest's leaves.

    Relaxation, annealing from it in two chains, then sampling; see the modules.

    Parameters
    ----------
    forest : Forest
        With exact counts; which rows each tree drew is not used.
    schema : Schema
    known : Known, optional
        Columns or rows known from elsewhere.
    n_rows : int, optional
        Rows of the training set, where the model does not say.
    deadline : float
        On `time.monotonic`; the search becomes shorter when it comes near.
    seed : int
        The result is repeatable as long as the deadline does not interfere.
    n_samples : int, optional
        Tables to draw: 200, fewer when there are more than 200 rows.
    progress : callable, optional

    Raises
    ------
    ModelTooLargeError
        More profiles than can be listed.
    InconsistentModelError, UnsupportedModelError, SchemaError
    """
    started = time.monotonic()
    tell = progress or (lambda _step, _share: None)
    known = known or Known()
    evidence = evidence_of(forest, n_rows)
    check_known(known, evidence)
    tell("enumerating profiles", 0.0)
    profiles = enumerate_profiles(evidence, schema, extra_cuts(known), deadline=deadline)
    groups = row_groups(known, evidence, profiles)
    tell("relaxing", 0.05)
    listed = time.monotonic()
    relaxed = relax(profiles.leaf, evidence, deadline=listed + 0.25 * (deadline - listed))
    places, allowed = _places(evidence, profiles, groups, relaxed)
    settled = time.monotonic()
    chains = [
        _chain(evidence, profiles, groups, relaxed, places, allowed, seed * _CHAINS + k)
        for k in range(_CHAINS)
    ]
    if n_samples is None:
        n_samples = int(np.clip(40_000 // evidence.n_rows, 40, 200))
    _run(chains, settled, deadline, -(-n_samples // _CHAINS), tell)
    used = _not_stuck(chains)
    posterior = np.concatenate([chain.log_posteriors for chain in used])
    details = {
        "profiles": len(profiles),
        "places": len(places.profile),
        "relaxation_iterations": relaxed.iterations,
        "relaxation_gap": relaxed.gap,
        "chains": len(chains),
        "chains_used": len(used),
        "seconds_profiles": round(listed - started, 4),
        "seconds_relaxation": round(settled - listed, 4),
        "seconds_search": round(time.monotonic() - settled, 4),
    }
    return BaggedHistogram(
        evidence,
        profiles,
        groups,
        places.profile,
        places.label,
        np.vstack([chain.samples for chain in used]),
        np.concatenate([chain.log_likelihoods for chain in used]),
        int(np.argmax(posterior)),
        details,
    )


def _not_stuck(chains: list[Chain]) -> list[Chain]:
    """The chains whose tables are about as probable as those of the best."""
    mean = [float(np.mean(chain.log_posteriors)) for chain in chains]
    best = int(np.argmax(mean))
    margin = max(_STUCK, 3.0 * float(np.std(chains[best].log_posteriors)))
    return [chain for chain, own in zip(chains, mean, strict=True) if own >= mean[best] - margin]


def _places(
    evidence: Evidence, profiles: Profiles, groups: RowGroups, relaxed: Relaxation
) -> tuple[Places, npt.NDArray[np.bool_]]:
    """The places worth considering, and which of them each group of rows may stand on."""
    n_classes = len(evidence.classes)
    start = np.concatenate([[0], np.cumsum(profiles.sizes)]).astype(np.int64)
    derivative = relaxed.derivative.reshape(-1)
    per_row = _distinct_per_row(evidence) * len(evidence.forest.trees)
    order = np.argsort(-derivative, kind="stable")
    chosen = order[: _MOST_PLACES // 2]
    chosen = chosen[per_row * (derivative[chosen] - 1.0) > -_LOSS]
    # Where many places explain the leaves alike, those with the largest shares are likeliest.
    most = _MOST_PLACES_TRIED if _leave_much_open(relaxed) else _MOST_PLACES
    largest = np.argsort(-relaxed.share, kind="stable")[: most - len(chosen)]
    likely = (relaxed.profile * n_classes + relaxed.label)[largest]
    keep = [chosen, likely, groups.pinned[groups.pinned >= 0]]
    if len(groups.allowed) > 1 or not groups.allowed.all():
        # What is known about a row outweighs what the relaxation, which does not know it, says.
        profile, label = np.divmod(order, n_classes)
        levels = np.column_stack([profiles.codes(profile).astype(np.int64), label])
        for g in range(len(groups.allowed)):
            fits = groups.allowed[g, start[0] + levels[:, 0]]
            for a in range(1, levels.shape[1]):
                fits &= groups.allowed[g, start[a] + levels[:, a]]
            keep.append(order[fits][:_LEAST_PER_GROUP])
    numbers = np.unique(np.concatenate(keep)).astype(np.int64)
    places = places_of(
        profiles.leaf, profiles.sizes, profiles.strides, n_classes, evidence.n_leaves, numbers
    )
    allowed = groups.places(places.levels, start)
    if not allowed.any(axis=1).all():
        raise InconsistentModelError("no possible profile fits what is known about some row")
    return places, allowed


def _leave_much_open(relaxed: Relaxation) -> bool:
    return len(relaxed.share) > _MOST_PLACES


def _distinct_per_row(evidence: Evidence) -> float:
    """Distinct rows of a tree, as a share of all rows (draws where they are not published)."""
    totals = np.where(evidence.distinct >= 0, evidence.distinct, evidence.draws.sum(axis=1))
    n_trees = len(evidence.forest.trees)
    return float(totals.sum()) / (n_trees * evidence.n_rows)


def _chain(
    evidence: Evidence,
    profiles: Profiles,
    groups: RowGroups,
    relaxed: Relaxation,
    places: Places,
    allowed: npt.NDArray[np.bool_],
    seed: int,
) -> Chain:
    n_classes = len(evidence.classes)
    rng = np.random.default_rng([seed, 1])
    weight = np.full(len(places.numbers), 1e-12)
    numbers = relaxed.profile * n_classes + relaxed.label
    at = np.searchsorted(places.numbers, numbers)
    at = np.minimum(at, len(places.numbers) - 1)
    hit = places.numbers[at] == numbers
    weight[at[hit]] += relaxed.share[hit]
    rows = np.empty(evidence.n_rows, dtype=np.int64)
    for g in range(len(allowed)):
        own = np.flatnonzero(groups.group == g)
        shares = np.where(allowed[g], weight, 0.0)
        # One random start, then even steps: shares are met as closely as whole rows can.
        marks = (np.arange(len(own)) + rng.random()) / max(len(own), 1)
        steps = np.cumsum(shares) / shares.sum()
        rows[own] = rng.permutation(np.minimum(np.searchsorted(steps, marks), len(steps) - 1))
    pinned = groups.pinned >= 0
    rows[pinned] = np.searchsorted(places.numbers, groups.pinned[pinned])
    held = np.zeros((evidence.n_leaves, n_classes), dtype=np.int32)
    np.add.at(held, (places.leaf[rows], places.label[rows][:, None]), 1)
    table = Table(rows, held, groups.group.astype(np.int32), allowed)
    kinds = Kinds(np.append(profiles.sizes, n_classes), evidence.n_rows, rng)
    chance = np.empty(0)
    if _leave_much_open(relaxed):
        chance = np.cumsum(0.8 * weight / weight.sum() + 0.2 / len(weight))
    return Chain(
        leaves_of(evidence, SEARCH_PENALTY), places, table, np.flatnonzero(~pinned), kinds,
        chance, seed,
    )  # fmt: skip


def _run(
    chains: list[Chain], started: float, deadline: float, n_samples: int, tell: Progress
) -> None:
    """Cool and sample all chains at once; the caller's thread reports how far they are."""
    left = deadline - started
    done = [0.0] * len(chains)
    cancelled = threading.Event()
    for chain in chains:
        chain.deadline = deadline

    def work(k: int) -> None:
        def told(share: float, base: float, width: float) -> None:
            done[k] = base + width * share
            if cancelled.is_set():
                raise _CancelledError

        chains[k].cool(_LEVELS, started + 0.6 * left, lambda s: told(s, 0.0, 0.7))
        chains[k].sample(n_samples, started + 0.85 * left, lambda s: told(s, 0.7, 0.3))

    with ThreadPoolExecutor(len(chains)) as pool:
        futures = [pool.submit(work, k) for k in range(len(chains))]
        try:
            while not all(future.done() for future in futures):
                tell("searching", 0.1 + 0.8 * min(done))
                time.sleep(0.05)
        except BaseException:
            cancelled.set()
            raise
    for future in futures:
        future.result()


class _CancelledError(Exception):
    """The caller raised from its progress callback."""
