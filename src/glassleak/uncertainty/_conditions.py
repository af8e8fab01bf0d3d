"""Conditions of leaves and rules, and what remains of an attribute, in words."""

from __future__ import annotations

from glassleak.counting import Domain, bits
from glassleak.models import RuleList, Tree
from glassleak.schema import Bins, Categorical, Numeric, Ordinal
from glassleak.uncertainty._groups import Groups

_LISTED = 12


def visible(text: str) -> str:
    """`text` with whatever is not a visible character spelt out: names may come from strangers."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def remaining_text(domain: Domain, levels: int) -> str:
    """What is left of an attribute: ``{12, 13, 14, 15}``, ``1`` if it is known, ``any``.

    Parameters
    ----------
    domain : Domain
    levels : int
        Set of levels.
    """
    if not levels:
        return "nothing"
    size = domain.size(levels)
    if levels == domain.everything and size > _LISTED:
        return f"any of {size:,}"
    names = [visible(name) for name in level_names(domain, levels)]
    if size == 1:
        return names[0]
    return "{" + ", ".join(names) + "}"


def level_names(domain: Domain, levels: int) -> list[str]:
    """Names of the levels of a set; long runs of numbers as ``12 to 90``, long lists cut short."""
    attribute = domain.attribute
    if isinstance(attribute, Ordinal | Numeric):
        return _numbers(domain, levels)
    assert domain.members is not None
    members = sorted(int(i) for c in bits(levels) for i in domain.members[c])
    if isinstance(attribute, Bins):
        return _cut_short([_pattern(attribute, i) for i in members[: _LISTED + 1]], len(members))
    known = attribute.levels if isinstance(attribute, Categorical) else (0, 1)
    beyond = "none of them" if getattr(attribute, "absent", False) else "missing"
    return _cut_short(
        [str(known[i]) if i < len(known) else beyond for i in members[: _LISTED + 1]], len(members)
    )


def _pattern(attribute: Bins, level: int) -> str:
    ones = [c for c, v in zip(attribute.columns, attribute.patterns[level], strict=True) if v]
    return "+".join(ones) or "none of them"


def _cut_short(names: list[str], size: int) -> list[str]:
    return names if size <= _LISTED else [*names[: _LISTED - 1], f"… {size:,} in all"]


def _numbers(domain: Domain, levels: int) -> list[str]:
    attribute = domain.attribute
    assert isinstance(attribute, Ordinal | Numeric)
    step = 1 if isinstance(attribute, Ordinal) else attribute.resolution or 0.0
    starts = domain.starts
    names: list[str] = []
    runs: list[list[int]] = []
    missing = levels & domain.missing
    for c in bits(levels & ~domain.missing):
        if runs and runs[-1][1] == starts[c]:
            runs[-1][1] = starts[c + 1]
        else:
            runs.append([starts[c], starts[c + 1]])
    total = sum(stop - start for start, stop in runs)
    for start, stop in runs:
        values = (start, stop - 1) if total > _LISTED and stop - start > 2 else range(start, stop)
        shown = [_number(min(attribute.low + step * i, attribute.high)) for i in values]
        names += [f"{shown[0]} to {shown[1]}"] if total > _LISTED and stop - start > 2 else shown
    return [*_cut_short(names, len(names)), *(["missing"] if missing else [])]


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.10g}"


def conditions_text(groups: Groups, number: int, limit: int = 400) -> str:
    """The tests that lead to a leaf, or a rule's own conditions, with attributes' names."""
    box = groups.regions.region(number).box
    domains = groups.regions.domains
    parts = [
        f"{visible(domains[a].attribute.name)} = {remaining_text(domains[a], m)}"
        for a, m in sorted(box.items())
        if m != domains[a].everything
    ]
    if not parts:
        return "everybody else" if isinstance(groups.model, RuleList) and number else "everybody"
    text = " and ".join(parts)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def joint_text(groups: Groups, number: int) -> str:
    """What a rule's people also satisfy jointly: "and not rule 1 and not rule 2" (Table IV)."""
    if isinstance(groups.model, Tree) or not number:
        return ""
    return "none of " + (f"rules 0 to {number - 1}" if number > 1 else "rule 0")
