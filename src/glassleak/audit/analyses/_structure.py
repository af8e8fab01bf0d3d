"""The question how small the groups of people are that the model describes one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._exhibit import Exhibit
from glassleak.audit._finding import AnalysisResult, Finding, Status
from glassleak.audit._policy import Policy
from glassleak.audit.analyses._freedom import degrees_of_freedom
from glassleak.audit.analyses._privacy import covered_by_privacy
from glassleak.audit.analyses._reconstruction_exhibits import by_size
from glassleak.audit.analyses._silent import silent
from glassleak.models import Exact, Forest, Missing, Model, MultiwayTree, RuleList, Tree

_NOISY = "the published counts carry noise, so group sizes cannot be read off them"
_REPEATED = (
    "rows were drawn more than once and counted each time, so groups or classes that look large "
    "enough may hold fewer people"
)


@dataclass(frozen=True)
class _Groups:
    """The groups one tree or rule list splits the training set into.

    Attributes
    ----------
    tree : int
        Which tree of the forest; 0 for other models.
    people : (groups,) int array
        At most this many people; exactly, unless `repeated`.
    classes : (groups, classes) int array, or None when not published
        Rows, which under bagging count repeatedly.
    repeated : bool
        Whether `people` counts a person as often as it was drawn.
    """

    tree: int
    people: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64] | None
    repeated: bool

    def doubtful(self, limit: int) -> bool:
        """Whether repeated rows leave open if some group or class reaches `limit` people."""
        if self.repeated:
            return bool((self.people >= limit).any())
        if self.classes is None:
            return False
        # Every repetition in the group may have been of this class.
        surplus = self.classes.sum(axis=1) - self.people
        at_least = self.classes - surplus[:, None]
        open_ = (self.classes >= limit) & (at_least < limit) & (surplus[:, None] > 0)
        return bool(open_[self.people >= limit].any())


def _groups(part: Tree | RuleList | MultiwayTree, tree: int, bagged: bool) -> _Groups | None:
    if part.people is None:
        return None
    where = np.arange(len(part)) if isinstance(part, RuleList) else part.leaves
    classes = part.counts.values[where] if isinstance(part.counts, Exact) else None
    repeated = bagged and isinstance(part, Tree) and part.distinct_rows is None
    return _Groups(tree, part.people[where], classes, repeated)


def _run(subject: Subject) -> AnalysisResult:
    model, policy = subject.model, subject.policy
    if model is None:
        problem = subject.opened.problem
        return AnalysisResult("not assessed", reason=str(problem) if problem else "no model")
    parts: tuple[Tree | RuleList | MultiwayTree, ...] = (
        model.trees if isinstance(model, Forest) else (model,)
    )
    bagged = isinstance(model, Forest) and model.bagging.kind != "none"
    found = [_groups(part, i, bagged) for i, part in enumerate(parts)]
    groups = [g for g in found if g is not None]
    gaps = [_why(part) for part in parts if not isinstance(part.counts, Exact)]
    if not groups:
        if all(isinstance(part.counts, Missing) for part in parts):
            return silent(subject, model, gaps[0])
        return AnalysisResult("not assessed", reason=gaps[0])
    findings = [_shape(model, groups), *_small_groups(model, groups, policy)]
    with_classes = [g for g in groups if g.classes is not None]
    if with_classes:
        findings += _pure_groups(model, with_classes, policy)
        findings += _small_classes(model, with_classes, policy)
        findings += _absent_classes(model, with_classes, policy)
    findings += degrees_of_freedom(model, policy)
    if any(g.doubtful(policy.min_people) for g in groups):
        gaps.append(_REPEATED)
    assumptions = ("one row of the training table is one person",)
    status: Status = "partial" if gaps else "done"
    reason = "; ".join(dict.fromkeys(gaps))
    return AnalysisResult(
        status, tuple(findings), reason=reason, assumptions=assumptions,
        exhibits=(_group_sizes(model, groups, policy),),
    )  # fmt: skip


def _why(part: Tree | RuleList | MultiwayTree) -> str:
    return part.counts.reason if isinstance(part.counts, Missing) else _NOISY


def _noun(model: Model) -> str:
    return "rule" if isinstance(model, RuleList) else "leaf"


def _counted(number: int, model: Model) -> str:
    """``1 leaf``, ``2,000 leaves``, ``3 rules``."""
    plural = "rules" if isinstance(model, RuleList) else "leaves"
    return f"{number:,} {_noun(model) if number == 1 else plural}"


def _in_trees(model: Model) -> str:
    return f" of {len(model)} trees" if isinstance(model, Forest) else ""


def _shape(model: Model, groups: list[_Groups]) -> Finding:
    sizes = np.concatenate([g.people for g in groups])
    occupied = sizes[sizes > 0]
    smallest = int(occupied.min()) if occupied.size else 0
    rows = f"{model.n_rows:,}" if model.n_rows is not None else "An unknown number of"
    return Finding(
        id="structure.shape",
        title=f"{rows} people in {_counted(len(sizes), model)}{_in_trees(model)}; the smallest "
        f"holds {smallest:,}",
        detail=f"Every {_noun(model)} publishes how many training rows it holds.",
        effect="note",
        evidence={
            "groups": len(sizes),
            "trees": len(model) if isinstance(model, Forest) else 1,
            "people": model.n_rows,
            "smallest": smallest,
            "median": float(np.median(occupied)) if occupied.size else 0.0,
            "classes": len(model.classes),
            "columns": len(model.columns),
        },
    )


def _group_sizes(model: Model, groups: list[_Groups], policy: Policy) -> Exhibit:
    sizes = np.concatenate([g.people for g in groups])
    few = int(((sizes > 0) & (sizes < policy.min_people)).sum())
    noun = "Rules" if isinstance(model, RuleList) else "Leaves"
    number = by_size(sizes, np.ones(len(sizes), dtype=np.int64))
    people = by_size(sizes, sizes)
    columns: tuple[str, ...] = ("people in it", noun.lower())
    rows: tuple[tuple[Any, ...], ...] = number
    if len(groups) == 1:  # every tree counts the same people again
        columns = (*columns, "people in them")
        rows = tuple((*n, p) for n, (_, p) in zip(number, people, strict=True))
    return Exhibit(
        "structure.group_sizes",
        f"{few:,} of {_counted(len(sizes), model)} describe fewer than {policy.min_people} people",
        f"{noun} by the number of training people in them"
        + (f", all {len(model)} trees together" if isinstance(model, Forest) else "")
        + ". Those with nobody in them are left out.",
        columns,
        rows,
        chart="bar",
    )


def _exposed(marked: list[tuple[_Groups, npt.NDArray[np.bool_]]]) -> dict[str, Any]:
    """People in the marked groups, tree by tree: every tree splits the same people anew."""
    per_tree = [int(groups.people[mask].sum()) for groups, mask in marked]
    worst = int(np.argmax(per_tree))
    groups, _ = marked[worst]
    return {
        "groups": sum(int(mask.sum()) for _, mask in marked),
        "people": per_tree[worst],
        "of_people": int(groups.people.sum()),
        "tree": groups.tree,
        "mean_people": float(np.mean(per_tree)),
    }


def _who(evidence: dict[str, Any], model: Model) -> str:
    people, total = evidence["people"], evidence["of_people"]
    where = f" in tree {evidence['tree']} alone" if isinstance(model, Forest) else ""
    share = f"{people / total:.0%}" if people >= total / 100 else "less than 1%"
    return f"{people:,} of {total:,} people ({share}){where}"


def _small_groups(model: Model, groups: list[_Groups], policy: Policy) -> list[Finding]:
    limit = policy.min_people
    evidence = _exposed([(g, (g.people > 0) & (g.people < limit)) for g in groups])
    if not evidence["groups"]:
        return []
    alone = _exposed([(g, g.people == 1) for g in groups])
    evidence |= {
        "threshold": limit,
        "people_alone": alone["people"],
        "groups_of_one": alone["groups"],
    }
    return [
        Finding(
            id="structure.small-groups",
            title=f"Fewer than {limit} people in {_counted(evidence['groups'], model)}",
            detail=f"{_who(evidence, model)} are in such a {_noun(model)}; alone in "
            f"theirs: {alone['people']:,}, each described by the conditions of one {_noun(model)}.",
            effect="fix",
            remedy=f"Train with min_samples_leaf={limit} or more, prune, or publish without "
            "counts.",
            evidence=evidence,
        )
    ]


def _pure_groups(model: Model, groups: list[_Groups], policy: Policy) -> list[Finding]:
    marked = []
    for group in groups:
        assert group.classes is not None
        marked.append((group, (group.classes > 0).sum(axis=1) == 1))
    evidence = _exposed(marked)
    if not evidence["groups"] or len(model.classes) < 2:
        return []
    return [
        Finding(
            id="structure.pure-groups",
            title=f"Everybody has the same class in {_counted(evidence['groups'], model)}",
            detail=f"{_who(evidence, model)} are in such a {_noun(model)}: whoever knows that "
            "someone fits its conditions knows their class for certain.",
            effect="note" if policy.allow_pure_leaves else "fix",
            remedy="Train with larger leaves or less depth, or publish labels without counts.",
            evidence=evidence,
        )
    ]


def _small_classes(model: Model, groups: list[_Groups], policy: Policy) -> list[Finding]:
    limit = policy.min_people
    marked = []
    for group in groups:
        assert group.classes is not None
        occupied = group.classes > 0
        few = (occupied & (group.classes < limit)).any(axis=1) & (occupied.sum(axis=1) > 1)
        marked.append((group, few & (group.people >= limit)))
    evidence = _exposed(marked)
    if not evidence["groups"]:
        return []
    return [
        Finding(
            id="structure.small-classes",
            title=f"A class has fewer than {limit} people in "
            f"{_counted(evidence['groups'], model)} of {limit} or more",
            detail=f"{_who(evidence, model)} are in such a {_noun(model)}; the few who differ from "
            "the rest stand out.",
            effect="note" if policy.allow_small_classes else "fix",
            remedy="Round or threshold the published class counts, or publish labels only.",
            evidence=evidence | {"threshold": limit},
        )
    ]


def _absent_classes(model: Model, groups: list[_Groups], policy: Policy) -> list[Finding]:
    if len(model.classes) < 3:  # with two, the group has one class, which is reported as that
        return []
    marked = []
    for group in groups:
        assert group.classes is not None
        occurs = group.classes.sum(axis=0) > 0
        absent = ((group.classes == 0) & occurs).any(axis=1)
        marked.append((group, absent & ((group.classes > 0).sum(axis=1) > 1)))
    evidence = _exposed(marked)
    if not evidence["groups"]:
        return []
    passes = policy.allow_pure_leaves or not policy.zeros_are_disclosive
    return [
        Finding(
            id="structure.absent-classes",
            title=f"Nobody has some class in {_counted(evidence['groups'], model)} with several "
            "classes",
            detail=f"{_who(evidence, model)} are in such a {_noun(model)}: whoever knows that "
            "someone fits its conditions knows which classes they do not have.",
            effect="note" if passes else "fix",
            remedy="Train with larger leaves or less depth, publish labels without counts, or "
            "decide that zeros may be published (zeros_are_disclosive = false).",
            evidence=evidence,
        )
    ]


STRUCTURE = Analysis(
    "structure",
    "How small are the groups of people the model describes?",
    _run,
    # Noise hides group sizes, and a guarantee that holds needs none to be checked.
    needed=lambda subject: not covered_by_privacy(subject),
)
