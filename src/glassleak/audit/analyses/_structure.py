"""How small are the groups of people the model describes one by one?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._finding import AnalysisResult, Finding
from glassleak.audit._policy import Policy
from glassleak.models import Exact, Forest, Missing, Model, Noisy, RuleList, Tree


@dataclass(frozen=True)
class _Groups:
    """The groups one tree or rule list splits the training set into.

    Attributes
    ----------
    people : (groups,) int array, or None when not published
    classes : (groups, classes) int array, or None when not published
    """

    people: npt.NDArray[np.int64] | None
    classes: npt.NDArray[np.int64] | None


def _groups(part: Tree | RuleList) -> _Groups:
    where = part.leaves if isinstance(part, Tree) else np.arange(len(part.rules))
    people = None if part.people is None else part.people[where]
    classes = part.counts.values[where] if isinstance(part.counts, Exact) else None
    return _Groups(people, classes)


def _run(subject: Subject) -> AnalysisResult:
    model = subject.model
    if model is None:
        problem = subject.opened.problem
        return AnalysisResult("not assessed", reason=str(problem) if problem else "no model")
    parts: tuple[Tree | RuleList, ...] = model.trees if isinstance(model, Forest) else (model,)
    if isinstance(parts[0].counts, Noisy):
        return AnalysisResult(
            "not assessed",
            reason="the published counts carry noise, so group sizes cannot be read off them",
        )
    groups = [_groups(part) for part in parts]
    with_people = [g.people for g in groups if g.people is not None]
    if not with_people:
        reason = next(p.counts.reason for p in parts if isinstance(p.counts, Missing))
        return AnalysisResult("not assessed", reason=reason)
    findings = [_shape(model, with_people), *_small_groups(model, with_people, subject.policy)]
    with_classes = [g for g in groups if g.classes is not None and g.people is not None]
    if with_classes:
        findings += _pure_groups(model, with_classes, subject.policy)
        findings += _small_classes(model, with_classes, subject.policy)
    unread = [p.counts.reason for p in parts if isinstance(p.counts, Missing)]
    assumptions = ("one row of the training table is one person",)
    if unread:
        return AnalysisResult(
            "partial", tuple(findings), reason=unread[0], assumptions=assumptions
        )
    return AnalysisResult("done", tuple(findings), assumptions=assumptions)


def _noun(model: Model) -> str:
    return "rule" if isinstance(model, RuleList) else "leaf"


def _plural(model: Model) -> str:
    return "rules" if isinstance(model, RuleList) else "leaves"


def _in_trees(model: Model) -> str:
    return f" of {len(model)} trees" if isinstance(model, Forest) else ""


def _shape(model: Model, people: list[npt.NDArray[np.int64]]) -> Finding:
    sizes = np.concatenate(people)
    occupied = sizes[sizes > 0]
    smallest = int(occupied.min()) if occupied.size else 0
    rows = f"{model.n_rows:,}" if model.n_rows is not None else "an unknown number of"
    return Finding(
        id="structure.shape",
        title=f"{len(sizes):,} {_plural(model)}{_in_trees(model)} describe {rows} people; the "
        f"smallest describes {smallest:,}",
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


def _exposed(masks: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]]) -> dict[str, Any]:
    """People in the marked groups, tree by tree: every tree splits the same people anew."""
    per_tree = [int(people[mask].sum()) for people, mask in masks]
    worst = int(np.argmax(per_tree))
    total = int(masks[worst][0].sum())
    return {
        "groups": int(sum(int(mask.sum()) for _, mask in masks)),
        "people": per_tree[worst],
        "of_people": total,
        "tree": worst,
        "mean_people": float(np.mean(per_tree)),
    }


def _who(evidence: dict[str, Any], model: Model) -> str:
    people, total = evidence["people"], evidence["of_people"]
    where = f" in tree {evidence['tree']} alone" if isinstance(model, Forest) else ""
    return f"{people:,} of {total:,} people ({people / total:.0%}){where}"


def _small_groups(
    model: Model, people: list[npt.NDArray[np.int64]], policy: Policy
) -> list[Finding]:
    limit = policy.min_people
    evidence = _exposed([(p, (p > 0) & (p < limit)) for p in people])
    if not evidence["groups"]:
        return []
    alone = _exposed([(p, p == 1) for p in people])
    evidence |= {"threshold": limit, "people_alone": alone["people"], "groups_of_one": alone["groups"]}
    return [
        Finding(
            id="structure.small-groups",
            title=f"{evidence['groups']:,} {_plural(model)} describe fewer than {limit} people",
            detail=f"{_who(evidence, model)} are in such a {_noun(model)}; {alone['people']:,} are "
            "alone in theirs, so its conditions describe one person.",
            effect="fix",
            remedy=f"Train with min_samples_leaf={limit} or more, prune, or publish without "
            "counts.",
            evidence=evidence,
        )
    ]


def _pure_groups(model: Model, groups: list[_Groups], policy: Policy) -> list[Finding]:
    masks = []
    for group in groups:
        assert group.people is not None and group.classes is not None
        masks.append((group.people, (group.classes > 0).sum(axis=1) == 1))
    evidence = _exposed(masks)
    if not evidence["groups"] or len(model.classes) < 2:
        return []
    return [
        Finding(
            id="structure.pure-groups",
            title=f"In {evidence['groups']:,} {_plural(model)} everybody has the same class",
            detail=f"{_who(evidence, model)} are in such a {_noun(model)}: whoever knows that "
            "someone fits its conditions knows their class for certain.",
            effect="note" if policy.allow_pure_leaves else "fix",
            remedy="Train with larger leaves or less depth, or publish labels without counts.",
            evidence=evidence,
        )
    ]


def _small_classes(model: Model, groups: list[_Groups], policy: Policy) -> list[Finding]:
    limit = policy.min_people
    masks = []
    for group in groups:
        assert group.people is not None and group.classes is not None
        occupied = group.classes > 0
        few = (occupied & (group.classes < limit)).any(axis=1) & (occupied.sum(axis=1) > 1)
        masks.append((group.people, few & (group.people >= limit)))
    evidence = _exposed(masks)
    if not evidence["groups"]:
        return []
    return [
        Finding(
            id="structure.small-classes",
            title=f"{evidence['groups']:,} {_plural(model)} of {limit} or more people hold a class "
            f"with fewer than {limit}",
            detail=f"{_who(evidence, model)} are in such a {_noun(model)}; the few who differ from "
            "the rest stand out.",
            effect="note" if policy.allow_small_classes else "fix",
            remedy="Round or threshold the published class counts, or publish labels only.",
            evidence=evidence | {"threshold": limit},
        )
    ]


STRUCTURE = Analysis(
    "structure",
    "How small are the groups of people the model describes?",
    _run,
    needed=lambda _subject: True,
)
