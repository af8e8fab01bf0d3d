"""What columns' names suggest about which of them belong together: hints, never facts.

``age:18-20`` and ``age:21-22`` look like two values of one attribute.  Names also lie (in a
widely used table ``Age<=40`` is 1 for people *over* 40), so whoever asks here must check the
answer against data or a model before believing it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

# A comparison or a colon separates an attribute from its value; the others may be in either.
_STRONG = re.compile(r"<=|>=|==|!=|[=:<>≤≥]")
_WEAK_CHARACTERS = " \t_.-/|,;()[]{}"
_WEAK = re.compile(f"[{re.escape(_WEAK_CHARACTERS)}]+")
# A name of thousands of separators has thousands of prefixes; nobody means them all.
_MAX_PREFIXES = 6


@dataclass(frozen=True)
class Hint:
    """Columns whose names begin alike.

    Attributes
    ----------
    prefix : str
        What they share.
    members : tuple of int
        Their positions, in order.
    children : tuple of Hint
        Those among them that share more.
    certain : bool
        Whether a comparison or a colon follows the prefix, so that it must name the attribute.
    """

    prefix: str
    members: tuple[int, ...]
    children: tuple[Hint, ...] = ()
    certain: bool = False


def hints(names: Sequence[str], positions: Sequence[int]) -> tuple[Hint, ...]:
    """Groups of two and more columns that share a prefix, nested from general to specific.

    Parameters
    ----------
    names : sequence of str
        All columns.
    positions : sequence of int
        The columns to look at.
    """
    groups: dict[str, list[int]] = {}
    certain: set[str] = set()
    for position in positions:
        prefixes, first_is_certain = _prefixes(names[position])
        for prefix in prefixes:
            groups.setdefault(prefix, []).append(position)
        if first_is_certain:
            certain.add(prefixes[0])
    # Of prefixes with the same columns the longest says most; it also becomes the name.
    longest: dict[tuple[int, ...], str] = {}
    for prefix, members in groups.items():
        if len(members) > 1 and len(prefix) > len(longest.get(tuple(members), "")):
            longest[tuple(members)] = prefix
    return _nest([(prefix, members) for members, prefix in longest.items()], certain)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """`wanted`, or the nearest name that is not `taken`."""
    name, number = wanted, 1
    while not name or name in taken:
        number += 1
        name = f"{wanted} ({number})"
    return name


def _prefixes(name: str) -> tuple[list[str], bool]:
    """Prefixes from the most to the least specific, and whether the first one is certain."""
    strong = next((m for m in _STRONG.finditer(name) if m.start() > 0), None)
    stem = name[: strong.start()].rstrip(_WEAK_CHARACTERS) if strong else ""
    if stem:
        return [stem, *_weak_prefixes(stem)], True
    found = _weak_prefixes(name)
    before = name.rstrip("0123456789").rstrip(_WEAK_CHARACTERS)
    if before and before != name.rstrip(_WEAK_CHARACTERS) and before not in found:
        found.insert(0, before)
    return found, False


def _weak_prefixes(name: str) -> list[str]:
    cuts = [m.start() for m in _WEAK.finditer(name) if m.start() > 0 and m.end() < len(name)]
    if len(cuts) > 2 * _MAX_PREFIXES:
        cuts = cuts[:_MAX_PREFIXES] + cuts[-_MAX_PREFIXES:]
    return [name[:cut] for cut in reversed(cuts)]


def _nest(groups: list[tuple[str, tuple[int, ...]]], certain: set[str]) -> tuple[Hint, ...]:
    """Sets of columns as a forest, each below the smallest one that contains it."""
    small_first = sorted(groups, key=lambda group: (len(group[1]), group[1]))
    # The largest group so far that each column is in: nesting thousands of groups must not mean
    # comparing all of them with each other.
    around: dict[int, Hint] = {}
    loose: dict[tuple[int, ...], Hint] = {}
    for prefix, members in small_first:
        inside = set(members)
        near = {around[m].members: around[m] for m in members if m in around}
        children = [h for key, h in near.items() if key in loose and inside.issuperset(key)]
        for child in children:
            del loose[child.members]
        children.sort(key=lambda hint: hint.members)
        hint = Hint(prefix, members, tuple(children), prefix in certain)
        loose[members] = hint
        around.update(dict.fromkeys(members, hint))
    return tuple(sorted(loose.values(), key=lambda hint: hint.members))
