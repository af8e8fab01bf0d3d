"""Compare two audit records (``Audit.to_document()``), whichever way they came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Record: TypeAlias = Mapping[str, Any]
_RANK = {"release": 0, "refer": 1, "fix": 2}
_EFFECTS = ("note", "refer", "fix")
# What an audit measures, in words: finding, entry of its evidence, and whether more is worse.
_FIGURES: tuple[tuple[str, str, str, bool | None], ...] = (
    ("people proved to be in the training data", "reconstruction.rows", "certain_rows", True),
    ("of these, in groups too small", "reconstruction.rows", "certain_rows_in_small_groups", True),
    ("values proved by labels alone", "presence.labels", "certain", True),
    ("share of the uncertainty that remains", "uncertainty.remaining", "share_remaining", False),
    ("leaves or rules that are too small", "structure.small-groups", "groups", True),
    ("people in the smallest leaf or rule", "structure.shape", "smallest", False),
    ("leaves or rules with one class", "structure.pure-groups", "groups", True),
    ("leaves or rules", "structure.shape", "groups", None),
    ("training rows told", "structure.shape", "people", None),
)


@dataclass(frozen=True)
class Change:
    """A finding on one side or both.

    Attributes
    ----------
    finding : str
        Its id, with the place in the object where there are several.
    before, after : str or None
        Its title; ``None`` where it was not found.
    effect_before, effect_after : "note", "refer", "fix" or None
    """

    finding: str
    before: str | None
    after: str | None
    effect_before: str | None
    effect_after: str | None


@dataclass(frozen=True)
class Figure:
    """One number on both sides; ``None`` where it was not assessed or does not apply."""

    name: str
    before: float | int | None
    after: float | int | None
    worse: bool


@dataclass(frozen=True)
class Comparison:
    """Two audits side by side.

    Attributes
    ----------
    names : tuple of two str
    verdicts : tuple of two str
    counts : tuple of two str
        What each says about numbers of people: ``"exact"``, ``"noisy"``, ``"missing"``.
    gone, new, changed : tuple of Change
    figures : tuple of Figure
    worse : bool
        Whether the second is worse than the first.
    reasons : tuple of str
        Why it is, or is not.
    """

    names: tuple[str, str]
    verdicts: tuple[str, str]
    counts: tuple[str, str]
    gone: tuple[Change, ...]
    new: tuple[Change, ...]
    changed: tuple[Change, ...]
    figures: tuple[Figure, ...]
    worse: bool
    reasons: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def compare_records(before: Record, after: Record) -> Comparison:
    """Compare two audit records.

    The second is worse if its verdict is graver (release, refer, fix), or if the verdict is the
    same and it has a finding to fix that the first has not, or more people are proved, or less
    uncertainty remains.  A model that could not be assessed is not shown to be no worse.

    Parameters
    ----------
    before, after : mapping
        Audit records that fit the published JSON Schema.

    Returns
    -------
    Comparison
    """
    one, other = _findings(before), _findings(after)
    gone = tuple(_change(k, one[k], None) for k in one if k not in other)
    new = tuple(_change(k, None, other[k]) for k in other if k not in one)
    changed = tuple(
        _change(k, one[k], other[k]) for k in one if k in other and _differs(one[k], other[k])
    )
    figures = _figures(before, after)
    verdicts = (before["verdict"]["decision"], after["verdict"]["decision"])
    worse, reasons = _judge(verdicts, new, changed, figures)
    return Comparison(
        (_name(before), _name(after)), verdicts, (_counts(before), _counts(after)),
        gone, new, changed, figures, worse, reasons,
    )  # fmt: skip


def _findings(record: Record) -> dict[str, Mapping[str, Any]]:
    """By id; where one id occurs several times, also by its place in the object."""
    listed = [f for analysis in record["analyses"] for f in analysis["findings"]]
    ids = [f["id"] for f in listed]
    out: dict[str, Mapping[str, Any]] = {}
    for finding in listed:
        key = str(finding["id"])
        where = finding["evidence"].get("where")
        if ids.count(key) > 1 and where is not None:
            key = f"{key} at {where}"
        number = 1
        unique = key
        while unique in out:
            number += 1
            unique = f"{key} ({number})"
        out[unique] = finding
    return out


def _change(key: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Change:
    return Change(
        key,
        before["title"] if before else None,
        after["title"] if after else None,
        before["effect"] if before else None,
        after["effect"] if after else None,
    )


def _differs(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(one["title"] != other["title"] or one["effect"] != other["effect"])


def _figures(before: Record, after: Record) -> tuple[Figure, ...]:
    out = []
    for name, finding, entry, more_is_worse in _FIGURES:
        one, other = _number(before, finding, entry), _number(after, finding, entry)
        if one is None and other is None:
            continue
        worse = False
        if more_is_worse is not None and one is not None and other is not None:
            worse = other > one if more_is_worse else other < one
        out.append(Figure(name, one, other, worse))
    return tuple(out)


def _number(record: Record, finding: str, entry: str) -> float | int | None:
    for analysis in record["analyses"]:
        for found in analysis["findings"]:
            value = found["evidence"].get(entry) if found["id"] == finding else None
            if isinstance(value, int | float) and not isinstance(value, bool):
                return value
    return None


def _judge(
    verdicts: tuple[str, str],
    new: tuple[Change, ...],
    changed: tuple[Change, ...],
    figures: tuple[Figure, ...],
) -> tuple[bool, tuple[str, ...]]:
    if "not assessed" in verdicts:
        if verdicts[0] == verdicts[1]:
            return False, ("neither could be assessed",)
        unknown = "the second" if verdicts[1] == "not assessed" else "the first"
        return verdicts[1] == "not assessed", (f"{unknown} could not be assessed",)
    one, other = (_RANK[v] for v in verdicts)
    if one != other:
        word = "graver" if other > one else "milder"
        return other > one, (f"the verdict is {word}: {verdicts[0]} before, {verdicts[1]} now",)
    reasons = [f"new: {c.after}" for c in new if c.effect_after == "fix"]
    reasons += [
        f"now to be fixed: {c.after}"
        for c in changed
        if c.effect_after == "fix" and c.effect_before != "fix"
    ]
    reasons += [
        f"{f.name}: {_shown(f.before)} before, {_shown(f.after)} now"
        for f in figures[:4]
        if f.worse
    ]
    if reasons:
        return True, tuple(reasons)
    return False, (f"the verdict is {verdicts[1]}, as before, and nothing got worse",)


def _shown(value: float | int | None) -> str:
    if value is None:
        return "not assessed"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _name(record: Record) -> str:
    return str(record["model"].get("name", ""))


def _counts(record: Record) -> str:
    return str(record["model"].get("counts") or "not known")
