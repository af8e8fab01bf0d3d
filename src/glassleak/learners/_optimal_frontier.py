"""The fewest errors for every number of rules, and which number pays."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from glassleak.learners._optimal_problem import Candidates
from glassleak.learners._optimal_search import OutOfBudgetError, Rows, Search


@dataclass(frozen=True)
class Frontier:
    """Errors by length, in numbers of rows.

    Attributes
    ----------
    bounds : tuple of (length, lower bound, errors)
        With at most so many rules; equal where the optimum is proved.
    rules : tuple of int
        Groups of candidates: the list with the smallest objective found.
    objective, lower_bound : float
        Errors plus the price of the rules, of that list and of the best there can be.
    proved : bool
    """

    bounds: tuple[tuple[int, int, int], ...]
    rules: tuple[int, ...]
    objective: float
    lower_bound: float
    proved: bool


def frontier_of(search: Search, max_length: int, price: float, final: float) -> Frontier:
    """Solve length after length: each answer is the next one's starting point.

    Parameters
    ----------
    price : float
        What a rule costs, in rows.
    final : float
        Until when a list without proof may be improved; the search has its own deadline.
    """
    everything = search.everything
    stop = search.scan(everything).stop
    bounds = [(0, stop, stop)]
    best: tuple[float, list[int]] = (float(stop), [])
    in_time = True
    for length in range(1, max_length + 1):
        search.step = (f"lists of up to {length} rules", (length - 1) / max_length)
        if in_time:
            try:
                search.solve(everything, length, bounds[-1][2])
            except OutOfBudgetError:
                in_time = False
        low, high = search.known(everything, length)
        bounds.append((length, low, min(high, bounds[-1][2])))
        if high + price * length < best[0]:
            best = (high + price * length, search.best_list(everything, length))
        # Even if longer lists made only the errors nobody can avoid, they would cost more.
        if in_time and price and search.floor + price * (length + 1) >= best[0]:
            break
    lower = min(low + price * length for length, low, _ in bounds)
    found = Frontier(
        tuple(bounds), tuple(best[1]), best[0], min(lower, best[0]), _proved(best[0], lower)
    )
    if found.proved:
        return found
    search.deadline = final
    return _improved(search, found, _narrower(search, max_length, price, final), price, max_length)


def _improved(
    search: Search, found: Frontier, other: Sequence[int], price: float, max_length: int
) -> Frontier:
    """`found` with a better list: its own or `other`, each made longer while there is time."""
    for start in (found.rules, tuple(other)):
        rules = _extended(search, search.everything, list(start), max_length, search.deadline)
        objective = _errors(search, search.everything, rules) + price * len(rules)
        if objective < found.objective:
            proved = _proved(objective, found.lower_bound)
            found = replace(found, rules=tuple(rules), objective=objective, proved=proved)
    return found


def _proved(objective: float, lower: float) -> bool:
    return objective <= lower + 1e-9 * max(1.0, lower)


def _narrower(search: Search, max_length: int, price: float, final: float) -> tuple[int, ...]:
    """The best list of rules with a single condition, as a start where wider ones are too many."""
    # The first candidate of a group is its narrowest.
    members = [search.candidates.members[group[0]] for group in search.candidates.groups]
    narrow = [g for g, literals in enumerate(members) if len(literals) == 1]
    if len(narrow) == len(members):
        return ()
    now = time.monotonic()
    smaller = Search(
        search.points,
        Candidates(
            tuple(members[g] for g in narrow),
            search.candidates.captures[:, narrow],
            tuple((i,) for i in range(len(narrow))),
        ),
        max_length,
        search.least,
        search.rest,
        deadline=now + 0.8 * (final - now),
        memory_bytes=search.memory_bytes // 4,
    )
    found = frontier_of(smaller, max_length, price, smaller.deadline)
    return tuple(narrow[g] for g in found.rules)


def _extended(
    search: Search, rows: Rows, rules: list[int], max_length: int, final: float
) -> list[int]:
    """Go on after `rules` with the best few more rules at a time, while there is time."""
    rules = list(rules)
    for rule in rules:
        rows = search.after(rows, rule)
    step = 2
    while len(rules) < max_length and time.monotonic() < final:
        more = min(step, max_length - len(rules))
        with contextlib.suppress(OutOfBudgetError):
            search.solve(rows, more)
        found = search.best_list(rows, more)
        if not found:
            break
        for rule in found:
            rows = search.after(rows, rule)
        rules += found
    return rules


def _errors(search: Search, rows: Rows, rules: list[int]) -> int:
    total = 0
    for rule in rules:
        total += int(search.scan(rows).errors[rule])
        rows = search.after(rows, rule)
    return total + search.scan(rows).stop
