"""People known from a register, of whom only some were in the training set.

The paper's future work: "adversaries do not know which tuples are selected as training data".  The
adversary has a register with everybody's quasi-identifiers (QIs) and the published counts; who of
the register was in the training set is not known.  The model assumed:

- everybody in the training set is in the register, once;
- of a person in the register it is unknown whether they were in the training set, and if so, with
  which value.  Of all ways to fill that in that fit the published counts, the most uncertain is
  the estimate: with ``N_q`` people of a QI, ``k_qx`` of them expected in the training set with
  value ``x`` and ``o_q`` not in it, maximise ``-Σ k_qx ln(k_qx / N_q) - Σ o_q ln(o_q / N_q)``
  subject to ``Σ_x k_qx + o_q = N_q`` and, for every leaf, ``Σ_q k_qx = c_x``.

Without split facts everybody of a leaf is alike: in the training set with probability
``n_leaf / N_leaf``, and if so with the leaf's distribution.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.disclosure._certificate import Certificate
from glassleak.disclosure._gate import SplitWish, split_facts_of
from glassleak.disclosure._people import People, known_people
from glassleak.disclosure._problem import Problem, nodes_between, visiting_order
from glassleak.disclosure._superset_convex import register_with_split_facts
from glassleak.errors import SchemaError, UnsupportedModelError
from glassleak.models import Exact, MultiwayTree, RuleList, Tree

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class RegisterDisclosure:
    """What a model says about the people of a register.  Lines are distinct QIs.

    Attributes
    ----------
    in_training : Series
        Probability that a person of the QI was in the training set.
    posterior : DataFrame
        P(class | QI, in the training set); not a number for QIs that certainly were not.
    value : DataFrame
        P(class | QI) for a person of whom it is not known whether they were: nothing is said
        about those who were not, so each class is equally likely for them.
    bounds : DataFrame
        How many people of each QI were in the training set with each class, and in all, at least
        and at most, whatever else is unknown: proved, from leaves alone.
    certificate : Certificate
    assumptions : tuple of str
    seconds : float
    """

    in_training: pd.Series
    posterior: pd.DataFrame
    value: pd.DataFrame
    bounds: pd.DataFrame
    certificate: Certificate
    assumptions: tuple[str, ...]
    seconds: float

    @property
    def status(self) -> str:
        return "optimal" if self.certificate.finished else "partial"

    @property
    def exact(self) -> bool:
        """Whether the estimate is proved to be the maximum."""
        return self.certificate.proved

    def __repr__(self) -> str:
        return f"<RegisterDisclosure: {len(self.posterior):,} QIs; {self.certificate}>"


def disclosure_from_register(
    model: Tree | MultiwayTree | RuleList,
    register: pd.DataFrame,
    *,
    split_facts: SplitWish = "auto",
    people: str | npt.ArrayLike | None = None,
    budget_seconds: float = 60,
) -> RegisterDisclosure:
    """What a model says about people who may or may not have been in its training set.

    Parameters
    ----------
    model : Tree, MultiwayTree or RuleList
        With exact counts.
    register : DataFrame
        The model's columns for everybody who could be in the training set.
    split_facts : "auto", True, False or a measure
        As in `disclosure`.  Used where they are true whoever the training set was: with Gini or
        entropy, and no minimum size of leaves.
    people : str or array, optional
        How many people each line stands for, or the column that says so.
    budget_seconds : float

    Raises
    ------
    SchemaError
        Some leaf holds more people than the register has there.
    UnsupportedModelError
        The model does not publish exact counts, or is a forest.
    """
    started = time.monotonic()
    if not isinstance(model, Tree | MultiwayTree | RuleList):
        raise UnsupportedModelError("a register is compared with a single tree or rule list")
    if not isinstance(model.counts, Exact):
        raise UnsupportedModelError("exact counts per class are needed, and are not published")
    known = known_people(model, register, people)
    problem, outside = register_problem(model, known)
    facts, why = split_facts_of(problem, split_facts)
    notes = [why]
    if facts is not None and (facts.measure == "gain_ratio" or facts.min_leaf > 1):
        notes.append(
            "split facts are left out: which splits were compared depends on who was in the "
            "training set"
        )
        facts = None
    expected = _alike(problem)
    certificate = Certificate("closed form", people=problem.total)
    if facts is not None and problem.nodes:
        expected, certificate = register_with_split_facts(
            problem, facts, expected, started + budget_seconds
        )
    return _assembled(model, known, problem, outside, expected, certificate, notes, started)


def register_problem(
    model: Tree | MultiwayTree | RuleList, people: People
) -> tuple[Problem, npt.NDArray[np.intp]]:
    """The register in the leaves, and the QIs that no branch leads anywhere.

    The problem's `number` and `leaf_size` are people of the register; `leaf_counts` are those of
    the training set, which are fewer.
    """
    assert isinstance(model.counts, Exact)
    try:
        reached = model.apply(people.values)
    except ValueError as error:
        raise SchemaError(str(error)) from None
    outside = np.flatnonzero(reached < 0)
    inside = np.flatnonzero(reached >= 0)
    if not inside.size:
        raise SchemaError("nobody of the register can have been in the training set")
    rank = visiting_order(model)
    order = inside[np.argsort(rank[reached[inside]], kind="stable")]
    numbers, leaf = np.unique(rank[reached[order]], return_inverse=True)
    leaf = leaf.reshape(-1)
    leaf_number = np.argsort(rank)[numbers]
    start = np.searchsorted(leaf, np.arange(len(leaf_number) + 1))
    size = np.zeros(len(leaf_number), dtype=np.int64)
    np.add.at(size, leaf, people.number[order])
    counts = model.counts.values
    ends = np.arange(len(counts)) if isinstance(model, RuleList) else model.leaves
    room = np.zeros(len(counts), dtype=np.int64)
    room[leaf_number] = size
    short = ends[counts[ends].sum(axis=1) > room[ends]]
    if short.size:
        at = int(short[0])
        raise SchemaError(
            f"leaf {at} holds {int(counts[at].sum()):,} people of the training set, the register "
            f"has only {room[at]:,} there: somebody is missing from it"
        )
    own = counts[leaf_number]
    problem = Problem(
        model, people, "counts", order, people.number[order], people.values[order], leaf,
        leaf_number, start, size, own.copy(), np.argmax(own, axis=1), None,
        nodes_between(model, rank, leaf_number, start),
    )  # fmt: skip
    return problem, outside


def _alike(problem: Problem) -> npt.NDArray[np.float64]:
    """Expected people of every QI in the training set, by class: everybody of a leaf alike."""
    share = problem.leaf_counts / problem.leaf_size[:, None]
    expected: npt.NDArray[np.float64] = share[problem.leaf] * problem.number[:, None]
    return expected


def register_bounds(problem: Problem) -> tuple[IntArray, IntArray]:
    """Least and most people of every QI in the training set: each class, then all together.

    ``max(0, c_x - (N_leaf - N_q)) <= count <= min(N_q, c_x)``, and the same for ``n_leaf``.
    """
    own = problem.leaf_counts[problem.leaf]
    own = np.column_stack([own, own.sum(axis=1)])
    people = problem.number[:, None]
    others = problem.leaf_size[problem.leaf][:, None] - people
    return np.maximum(0, own - others), np.minimum(people, own)


def _assembled(
    model: Tree | MultiwayTree | RuleList, known: People, problem: Problem,
    outside: npt.NDArray[np.intp], expected: npt.NDArray[np.float64], certificate: Certificate,
    notes: list[str], started: float,
) -> RegisterDisclosure:  # fmt: skip
    m = problem.n_classes
    index = (
        pd.MultiIndex.from_frame(known.table)
        if known.table.shape[1] > 1
        else pd.Index(known.table.iloc[:, 0])
    )

    def whole(rows: npt.NDArray[Any], fill: float) -> npt.NDArray[Any]:
        out = np.full((len(known), *rows.shape[1:]), fill, dtype=rows.dtype)
        out[problem.order] = rows
        return out

    inside = expected.sum(axis=1)
    member = inside / problem.number
    with np.errstate(divide="ignore", invalid="ignore"):
        posterior = expected / inside[:, None]
    value = expected / problem.number[:, None] + ((1 - member) / m)[:, None]
    least, most = register_bounds(problem)
    both = np.stack([whole(least, 0), whole(most, 0)], axis=2).reshape(len(known), -1)
    columns = pd.Index(model.classes, name="class")
    names = pd.MultiIndex.from_product([[*model.classes, "in training"], ["least", "most"]])
    total = int(problem.leaf_counts.sum())
    told = (
        f"the adversary knows the QIs of {known.total:,} people, among them all {total:,} of the "
        "training set, and the class counts of every leaf; who was in the training set is unknown"
    )
    assumptions = [told, *notes, "bounds come from leaves alone"]
    if outside.size:
        gone = int(known.number[outside].sum())
        assumptions.append(
            f"{gone:,} people of the register would take a branch nobody of the training set took, "
            "and were certainly not in it"
        )
    return RegisterDisclosure(
        in_training=pd.Series(whole(member, 0.0), index=index, name="in training"),
        posterior=pd.DataFrame(whole(posterior, np.nan), index=index, columns=columns),
        value=pd.DataFrame(whole(value, 1 / m), index=index, columns=columns),
        bounds=pd.DataFrame(both, index=index, columns=names),
        certificate=certificate,
        assumptions=tuple(assumptions),
        seconds=time.monotonic() - started,
    )
