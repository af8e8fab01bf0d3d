"""What does a published model say about a person one already knows?"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.disclosure._bounds import CountBounds
from glassleak.disclosure._bounds_of_problem import count_bounds
from glassleak.disclosure._estimate import Found, estimate
from glassleak.disclosure._gate import SplitFacts, SplitWish, split_facts_of
from glassleak.disclosure._joint import JointProblem, joint_problem
from glassleak.disclosure._joint_disclose import disclose_jointly
from glassleak.disclosure._lazy import Progress
from glassleak.disclosure._metrics import overall, per_line, per_quasi_identifier, true_shares
from glassleak.disclosure._noisy import NOTE, likely_for
from glassleak.disclosure._people import People, known_people
from glassleak.disclosure._problem import Level, Margin, Problem, problem_of
from glassleak.disclosure._result import Disclosure, Status
from glassleak.disclosure._truth import class_positions
from glassleak.errors import SchemaError, UnsupportedModelError
from glassleak.models import Forest, Model, MultiwayTree, Noisy, RuleList, Tree

BoundsWish = Literal["auto", "leaves", "splits"] | bool
# Exact bounds with split facts ask a solver about each QI; beyond this they have to be asked for.
_FEW = 500
_BOUNDS_SECONDS = 5.0


def disclosure(
    model: Model,
    quasi_identifiers: pd.DataFrame,
    sensitive: str | None = None,
    level: Level = "counts",
    split_facts: SplitWish = "auto",
    *,
    truth: str | npt.ArrayLike | None = None,
    people: str | npt.ArrayLike | None = None,
    margin: Margin = None,
    bounds: BoundsWish = "auto",
    starts: int = 3,
    budget_seconds: float = 60,
    seed: int = 0,
    progress: Progress | None = None,
) -> Disclosure:
    """What a published model says about the sensitive value of people one knows.

    The adversary knows the columns (quasi-identifiers, QIs) of everybody in the training set, and
    the model.  Of all P(value | QI) that fit, the most uncertain is the most unbiased estimate
    (maximum entropy, Zhu and Du 2010).

    Parameters
    ----------
    model : Tree, Forest (without bagging), MultiwayTree or RuleList
        Its class is the sensitive attribute.
    quasi_identifiers : DataFrame
        The model's columns for everybody in the training set; other columns are ignored.
    sensitive : str, optional
        What the class is called.  A column of that name in the table is taken as `truth`, and
        never used by the estimate.
    level : "labels", "rates" or "counts"
        What is published about leaves: the class they predict; also how often that is wrong; or
        how many people of every class they hold.
    split_facts : "auto", True, False or a measure
        Whether the adversary uses that every chosen split was a best one.  "auto": if the model's
        own settings say so.  "gini", "entropy" or "gain_ratio": you know that it was.
    truth : str or array, optional
        The real values, line by line, or the column that holds them: shows how right the estimate
        is.
    people : str or array, optional
        How many people each line stands for, or the column that says so.
    margin : bool or mapping, optional
        The distribution of the sensitive attribute, if published too; True takes the model's.
    bounds : "auto", "leaves", "splits", True or False
        Proved least and largest counts: from leaves alone (closed form), or also from split facts,
        which takes a solver ("auto": for up to 500 QIs and five seconds; True is "splits").  None
        for counts with noise, from which nothing follows.
    starts : int
        Starting points where only local optima can be found.
    budget_seconds : float
    seed : int
    progress : callable, optional
        ``progress(step, share_done)``; raise from it to cancel.

    Returns
    -------
    Disclosure

    Raises
    ------
    SchemaError
        The table does not fit the model, or is not its training set.
    UnsupportedModelError
        The model does not publish what `level` needs.
    InconsistentModelError
        No table has these facts.
    MissingExtraError
        The problem is not convex and the optional solver is not installed.
    """
    started = time.monotonic()
    if not budget_seconds > 0:
        raise ValueError(f"budget_seconds must be positive, got {budget_seconds!r}")
    if bounds not in ("auto", "leaves", "splits", True, False):
        raise ValueError(f"unknown bounds {bounds!r}")
    _check_kind(model, sensitive)
    deadline = started + budget_seconds
    known = known_people(model, quasi_identifiers, people)
    real = _truth(model, quasi_identifiers, sensitive, truth)
    if sensitive is None and isinstance(truth, str):
        sensitive = truth
    if isinstance(model, Forest):
        if level != "counts" or split_facts not in ("auto", False) or margin:
            raise UnsupportedModelError(
                "of a forest, the counts of all leaves are used and no more"
            )
        joint = joint_problem(model, known)
        wanted = None if bounds is False else _BOUNDS_SECONDS if bounds == "auto" else np.inf
        found, proved = disclose_jointly(
            joint, deadline=deadline, bounds_seconds=wanted, seed=seed, progress=progress
        )
        notes = () if proved is None else tuple(f"proved bounds: {n}" for n in proved.notes)
        return _assembled(
            joint, known, found, proved, real, (_assumed(joint), *found.notes, *notes),
            sensitive or "class", time.monotonic() - started,
        )  # fmt: skip
    noise = _noise_of(model)
    if noise:
        assert isinstance(model, Tree | RuleList)
        # Nothing follows from counts that are only likely: no bounds, no facts about splits.
        model, bounds, split_facts = likely_for(model, known), False, False
    problem = problem_of(model, known, level, margin)
    facts, why = split_facts_of(problem, split_facts)
    found = estimate(problem, facts, starts=starts, seed=seed, deadline=deadline, progress=progress)
    proved, notes = _bounds(problem, facts, bounds, deadline, seed, progress)
    assumptions = (_assumed(problem), noise, why, *found.notes, *notes)
    told = _assembled(
        problem, known, found, proved, real, assumptions, sensitive or "class",
        time.monotonic() - started,
    )  # fmt: skip
    return replace(told, exact=False) if noise else told


def _noise_of(model: Tree | MultiwayTree | RuleList) -> str:
    """What is said about noise, if numbers of people are only published with it."""
    if not isinstance(model, Tree | RuleList) or not isinstance(model.counts, Noisy):
        return ""
    return NOTE.format(mechanism=model.counts.mechanism, scale=model.counts.scale)


def _check_kind(model: Any, sensitive: str | None) -> None:
    if not isinstance(model, Tree | Forest | MultiwayTree | RuleList):
        raise TypeError(
            f"expected a model as glassleak.read returns it, got {type(model).__name__}"
        )
    if sensitive is not None and sensitive in model.columns:
        raise UnsupportedModelError(
            f"{sensitive!r} is one of the columns the model predicts from; the estimate is for the "
            "value it predicts"
        )


def _truth(
    model: Model,
    table: pd.DataFrame,
    sensitive: str | None,
    truth: str | npt.ArrayLike | None,
) -> npt.NDArray[np.int64] | None:
    if truth is None and sensitive is not None and sensitive in getattr(table, "columns", ()):
        truth = sensitive
    if truth is None:
        return None
    if isinstance(truth, str):
        if truth not in table.columns:
            raise SchemaError(f"the table has no column {truth!r}")
        truth = table[truth]
    return class_positions(model.classes, truth, len(table))


def _assumed(problem: Problem | JointProblem) -> str:
    what = {
        "labels": "the label of every leaf",
        "rates": "label and error rate of every leaf",
        "counts": "class counts of every leaf",
    }[problem.level]
    if isinstance(problem, JointProblem):
        return f"the adversary knows the QIs of all {problem.total:,} people, {what} of every tree"
    margin = ", and the distribution of the sensitive value" if problem.margin is not None else ""
    return f"the adversary knows the QIs of all {problem.total:,} people, {what}{margin}"


def _bounds(
    problem: Problem,
    facts: SplitFacts | None,
    wish: BoundsWish,
    deadline: float,
    seed: int,
    progress: Progress | None,
) -> tuple[CountBounds | None, tuple[str, ...]]:
    if wish is False:
        return None, ()
    left = max(0.1, deadline - time.monotonic())
    notes: tuple[str, ...] = ()
    if wish == "auto" and facts is not None and problem.complete:
        if len(problem.number) > _FEW:
            notes = ("they come from leaves alone; split facts are used when asked for",)
            facts = None
        left = min(left, _BOUNDS_SECONDS)
    elif wish == "leaves":
        facts = None
    try:
        found = count_bounds(problem, facts, budget_seconds=left, seed=seed, progress=progress)
    except ImportError as error:  # two libraries that bring the same solver exclude each other
        if facts is None or wish != "auto":
            raise
        notes = (f"they come from leaves alone, a solver could not be loaded ({error})",)
        found = count_bounds(problem, None, budget_seconds=left, seed=seed, progress=progress)
    return found, tuple(f"proved bounds: {note}" for note in (*notes, *found.notes))


def _assembled(
    problem: Problem | JointProblem,
    people: People,
    found: Found,
    proved: CountBounds | None,
    truth: npt.NDArray[np.int64] | None,
    assumptions: tuple[str, ...],
    sensitive: str,
    seconds: float,
) -> Disclosure:
    classes, certificate = problem.classes, found.certificate
    index = (
        pd.MultiIndex.from_frame(people.table)
        if people.table.shape[1] > 1
        else pd.Index(people.table.iloc[:, 0])
        if people.table.shape[1]
        else pd.RangeIndex(len(people))
    )
    columns = pd.Index(classes, name=sensitive)
    posterior = problem.in_given_order(found.posterior)
    baseline = (
        posterior if found.baseline is found.posterior else problem.in_given_order(found.baseline)
    )
    shares = None if truth is None else true_shares(people, truth, len(classes))
    certain = None if proved is None else problem.in_given_order(proved.value)
    per_qi = per_quasi_identifier(people, posterior, classes, shares)
    status: Status = (
        "partial" if not certificate.finished
        else "local" if certificate.kind == "local" else "optimal"
    )  # fmt: skip
    return Disclosure(
        posterior=pd.DataFrame(posterior, index=index, columns=columns),
        without_split_facts=pd.DataFrame(baseline, index=index, columns=columns),
        bounds=None if proved is None else _bounds_table(problem, proved, index, columns),
        per_quasi_identifier=per_qi.set_axis(index),
        per_person=per_line(people, per_qi, posterior, certain, classes, truth),
        overall=overall(people, per_qi, posterior, baseline, certain, shares),
        certificate=certificate,
        assumptions=tuple(a for a in assumptions if a),
        level=problem.level,
        sensitive=sensitive,
        status=status,
        exact=certificate.proved,
        seconds=seconds,
        true_shares=None if shares is None else pd.DataFrame(shares, index=index, columns=columns),
    )


def _bounds_table(
    problem: Problem | JointProblem, proved: CountBounds, index: pd.Index, columns: pd.Index
) -> pd.DataFrame:
    least, most = problem.in_given_order(proved.lower), problem.in_given_order(proved.upper)
    both = np.stack([least, most], axis=2).reshape(len(least), -1)
    names = pd.MultiIndex.from_product([columns, ["least", "most"]], names=[columns.name, "count"])
    return pd.DataFrame(both, index=index, columns=names)
