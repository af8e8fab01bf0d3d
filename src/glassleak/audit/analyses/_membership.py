"""Can one tell whether a person was in the training data?"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from glassleak.audit._analysis import Analysis, Subject
from glassleak.audit._exhibit import Exhibit
from glassleak.audit._finding import AnalysisResult, Effect, Finding
from glassleak.audit._policy import Policy
from glassleak.audit.analyses._tables import TableError, class_column, labels_of, model_table
from glassleak.errors import GlassleakError
from glassleak.membership import Attack, Vulnerability, vulnerability
from glassleak.models import Forest, Missing, Model, RuleList, Tree

_NO_DATA = (
    "needs the training data and a hold-out: people from the same population who were not in it"
)
_REMEDY = (
    "Decide whether being in the training data is itself sensitive. If so, train with larger "
    "leaves, less depth or fewer trees, or privately."
)
# The rate of wrong accusations at which the policy counts members found.
_RATE = 0.01
_RATES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_NORMAL_95 = 1.96


def _run(subject: Subject) -> AnalysisResult:
    model, data, holdout = subject.model, subject.data, subject.holdout
    if model is None:
        return AnalysisResult("not assessed", reason=str(subject.opened.problem))
    if data is None or holdout is None:
        return AnalysisResult("not assessed", reason=_NO_DATA)
    try:
        found = _measured(subject, model, data, holdout)
    except (TableError, GlassleakError) as error:
        return AnalysisResult("not assessed", reason=str(error))
    assumptions = [
        "training data and hold-out are from the same population, and nobody is in both",
        *_other_size(model, data),
    ]
    return AnalysisResult(
        "done",
        (_finding(found, subject.policy, len(data), len(holdout)),),
        exact=False,
        assumptions=tuple(assumptions),
        exhibits=(_curve(found.attacks),),
    )


def _measured(
    subject: Subject, model: Model, data: pd.DataFrame, holdout: pd.DataFrame
) -> Vulnerability:
    target = subject.target or class_column(data, model)
    if target is None:
        raise TableError("which column of the data is the class is not clear; name it (target)")
    asked: Any = model
    if _silent(model):
        asked = subject.estimator
        if asked is None:
            raise TableError(
                "what the model answers cannot be worked out from its description (class counts "
                "or leaf scores are missing); give the estimator itself"
            )
    tables = []
    for name, table in (("training data", data), ("hold-out", holdout)):
        tables += [model_table(table, model, name), labels_of(table, target, model, name)]
    return vulnerability(asked, *tables, seed=subject.seed)


def _silent(model: Model) -> bool:
    """Whether the description does not hold what the model would answer."""
    if isinstance(model, Forest) and model.aggregation == "sum":
        return True
    parts = model.trees if isinstance(model, Forest) else (model,)
    return any(
        isinstance(part.counts, Missing)
        and not (isinstance(part, RuleList) or (isinstance(part, Tree) and part.shares is not None))
        for part in parts
    )


def _other_size(model: Model, data: pd.DataFrame) -> list[str]:
    if model.n_rows in (None, len(data)):
        return []
    return [f"the {len(data):,} rows given are part of the {model.n_rows:,} training rows"]


def _area_low(attack: Attack, members: int, others: int) -> float:
    """Lower end of a 95 % interval of the area (Hanley and McNeil 1982)."""
    area = attack.roc.area
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    spread = (
        area * (1 - area) + (members - 1) * (first - area**2) + (others - 1) * (second - area**2)
    )
    return area - _NORMAL_95 * math.sqrt(max(0.0, spread) / (members * others))


def _finding(found: Vulnerability, policy: Policy, members: int, others: int) -> Finding:
    best = max(found.attacks, key=lambda attack: attack.roc.area)
    low = {a.name: _area_low(a, members, others) for a in found.attacks}
    sharpest = max(found.attacks, key=lambda attack: attack.found[_RATE][1])
    share, share_low, share_high = sharpest.found[_RATE]
    # Only what is not chance: the lower ends of the intervals must be above the thresholds.
    told = max(low.values()) > policy.max_membership_auc
    singled_out = share_low > policy.max_members_found
    effect: Effect = "refer" if told or singled_out else "note"
    title = (
        f"Members of the training data are told from others with an AUC of {best.roc.area:.2f} "
        "(0.5 is guessing)"
    )
    detail = (
        f"With 1 % of the others wrongly accused, {share:.1%} of the members are found "
        f"({share_low:.1%} to {share_high:.1%}, {sharpest.name}). Over all outputs, members and "
        f"others can be told apart with a vulnerability of {found.overall:.3f}, against "
        f"{found.by_chance:.3f} by chance (p = {found.p_value:.3g})."
    )
    evidence: dict[str, Any] = {
        "members": members,
        "others": others,
        "auc": {a.name: round(a.roc.area, 4) for a in found.attacks},
        "auc_low": {name: round(value, 4) for name, value in low.items()},
        "advantage": {a.name: round(a.advantage, 4) for a in found.attacks},
        "found_at_1_percent": {
            a.name: [round(v, 4) for v in a.found[_RATE]] for a in found.attacks
        },
        "vulnerability": round(found.overall, 4),
        "vulnerability_by_chance": round(found.by_chance, 4),
        "p_value": found.p_value,
        "threshold_auc": policy.max_membership_auc,
        "threshold_found": policy.max_members_found,
    }
    return Finding(
        "membership.attack", title, detail, effect, _REMEDY if effect != "note" else "", evidence
    )


def _curve(attacks: tuple[Attack, ...]) -> Exhibit:
    rows = tuple(
        (100 * rate, *(round(100 * a.roc.found_at(rate), 2) for a in attacks)) for rate in _RATES
    )
    return Exhibit(
        "membership.roc",
        "How many members are found, by how many others are wrongly accused",
        "An attacker who guesses finds as many members as he wrongly accuses others. What matters "
        "is the left end: members found there are found with near certainty.",
        ("others wrongly accused (%)", *(f"members found (%), {a.name}" for a in attacks)),
        rows,
        chart="line",
    )


MEMBERSHIP = Analysis("membership", "Can one tell whether a person was in the training data?", _run)
