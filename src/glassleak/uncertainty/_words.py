"""What a result means, as sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from glassleak.counting import readable_number

if TYPE_CHECKING:
    from glassleak.uncertainty._result import Uncertainty


def statements(u: Uncertainty) -> tuple[str, ...]:
    """What remains, for whom least, and what that rests on."""
    if not u.n_rows:
        return ("the training set is empty",)
    return (_remaining(u), *_exposed(u), *u.notes)


def _remaining(u: Uncertainty) -> str:
    found, n = u.main, u.n_rows
    whole = found.uninformed / n
    if u.status == "bounded" and not found.exact:
        left = f"between {_bits(found.low / n)} and {_bits(found.high / n)}"
        share = f"{found.share_low:.0%} to {found.share_high:.0%}"
    else:
        about = "about " if u.status == "estimated" and not found.exact else ""
        left, share = f"{about}{_bits(found.bits / n)}", f"{found.share:.0%}"
    return (
        f"given the model, {left} of {_bits(whole)} bits per person remain to be guessed ({share})"
    )


def _bits(value: float) -> str:
    return f"{value:.1f}" if value >= 0.05 or value == 0 else f"{value:.2g}"


def _exposed(u: Uncertainty) -> tuple[str, ...]:
    if u.per_leaf is None:
        return ()
    people, single = u.n_rows, u.single_profile
    alone = (
        f"{single:,} of {people:,} people are left with a single possible profile"
        if single
        else "nobody is left with a single possible profile"
    )
    held = u.per_leaf.loc[u.per_leaf["rows"] > 0]
    least = held.sort_values("bits", kind="stable").iloc[0]
    some = int(held.loc[held["bits"] == least["bits"], "rows"].sum())
    if not single and math.isfinite(least["bits"]):
        whose = "1 person is" if some == 1 else f"{some:,} people are"
        alone += (
            f"; the most exposed {whose} left with {readable_number(least['profiles'])} of "
            f"{readable_number(u.n_profiles)} profiles"
        )
    return (alone,)
