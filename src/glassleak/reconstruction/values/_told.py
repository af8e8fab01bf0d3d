"""What a reconstruction says about the values of numbers, the same whatever found the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassleak.reconstruction.values._result import Values


def value_details(found: Values, *, fits: bool, proved: bool, kept: int = 0) -> dict[str, Any]:
    """``details["values"]`` of a reconstruction.

    Parameters
    ----------
    fits : bool
        Whether the table reproduces every count; otherwise some row is certainly misplaced.
    proved : bool
        Whether `found.exact` rests on nothing but rows that are certainly placed.
    kept : int
        Rows left as they were, because the values found would have changed a count.

    Returns
    -------
    dict
        ``share_exact``: share of the numbers that are proved, ``None`` if where the rows are is
        not proved itself.  ``share_if_placed``: share that follows if the rows are placed
        rightly, ``None`` if they are not.  ``share_pinned``: share with one value left.  Further
        ``numbers`` (how many), ``thresholds`` and how many are ``met`` exactly, ``conflicts``
        among them, ``midpoints`` and ``reason``, and ``kept``.
    """
    consistent = fits and not found.conflicts
    return {
        "numbers": len(found.table) * len(found.numbers),
        "share_exact": found.share_exact if proved else None,
        "share_if_placed": found.share_pinned if consistent else None,
        "share_pinned": found.share_pinned,
        "midpoints": found.midpoints,
        "thresholds": found.thresholds,
        "met": found.met,
        "conflicts": len(found.conflicts),
        "kept": kept,
        "reason": found.reason,
    }


def value_statements(details: Mapping[str, Any]) -> tuple[str, ...]:
    """The above in sentences."""
    if not details["numbers"]:
        return ()
    lines = []
    if not details["midpoints"]:
        lines.append(f"numbers are told as intervals: {details['reason']}")
    if details["share_exact"]:
        lines.append(
            f"{_percent(details['share_exact'])} of the numbers are proved to the last digit"
        )
    if details["conflicts"]:
        lines.append(
            f"{details['conflicts']:,} of {details['thresholds']:,} thresholds of numbers "
            "contradict the others: not every row is placed rightly"
        )
    elif (details["share_if_placed"] or 0) > (details["share_exact"] or 0):
        lines.append(
            f"if the rows are placed rightly, {_percent(details['share_if_placed'])} of the "
            "numbers are known to the last digit"
        )
    if details["kept"]:
        lines.append(
            f"{details['kept']:,} rows keep a value from the middle of an interval: the one that "
            "thresholds suggest would have changed a count"
        )
    return tuple(lines)


def _percent(share: float) -> str:
    """Never "100%" or "0%" of what is not all or nothing."""
    text = f"{share:.0%}"
    if share < 1 and text == "100%":
        return "more than 99%"
    return "less than 1%" if share > 0 and text == "0%" else text
