"""Profiles outside a number of boxes, as a problem that can be narrowed and taken apart.

Every box to stay out of is a *clause*: at least one of its attributes must have a level outside it.
Sets of clauses and of attributes are Python integers (one bit each), so that taking a problem apart
is a handful of operations however many clauses there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from glassleak.counting._domains import Domain, bits
from glassleak.counting._regions import Box


@dataclass(slots=True)
class State:
    """A narrowed problem.

    Attributes
    ----------
    active : int
        Clauses that are not satisfied yet.
    open : list of int
        For every clause, the attributes that can still satisfy it.
    levels : list of int
        What each attribute can still be.
    """

    active: int
    open: list[int]
    levels: list[int]

    def copy(self) -> State:
        """A copy that can be narrowed on its own."""
        return State(self.active, list(self.open), list(self.levels))


class Formula:
    """The clauses of all boxes of one model, over common domains.

    Parameters
    ----------
    domains : sequence of Domain
    boxes : sequence of mapping
        Boxes that are empty or hold everything may be among them.
    """

    def __init__(self, domains: Sequence[Domain], boxes: Sequence[Box]) -> None:
        self.domains = tuple(domains)
        self.everything = [domain.everything for domain in domains]
        self.n_clauses = len(boxes)
        self.inside: list[dict[int, int]] = []
        self.attributes: list[int] = []
        self.clauses_of = [0] * len(domains)
        self.never = 0  # boxes that hold no profile: satisfied from the start
        self.whole = 0  # boxes that hold every profile
        self.single = 0  # boxes that restrict one attribute
        for number, box in enumerate(boxes):
            own = {a: m for a, m in box.items() if m != self.everything[a]}
            if not all(own.values()):
                self.never |= 1 << number
            self.whole |= (not own) << number
            self.single |= (len(own) == 1) << number
            self.inside.append(own)
            self.attributes.append(sum(1 << a for a in own))
            for a in own:
                self.clauses_of[a] |= 1 << number
        self.many = [len(domain.sizes) > 2 for domain in domains]

    def start(self, clauses: int) -> State:
        """The problem of staying out of `clauses`, with nothing narrowed yet."""
        return State(clauses & ~self.never, list(self.attributes), list(self.everything))

    def narrow(self, state: State, restrictions: Iterable[tuple[int, int]]) -> bool:
        """Restrict attributes and draw every conclusion; False if no profile is left.

        A clause with one attribute left forces it out of the box, which may decide further clauses.
        """
        inside, left, levels = self.inside, state.open, state.levels
        active = state.active
        queue = list(restrictions)
        while queue:
            attribute, allowed = queue.pop()
            allowed &= levels[attribute]
            if allowed == levels[attribute]:
                continue
            if not allowed:
                return False
            levels[attribute] = allowed
            own = 1 << attribute
            touched = self.clauses_of[attribute] & active
            while touched:
                bit = touched & -touched
                touched ^= bit
                clause = bit.bit_length() - 1
                rest = left[clause]
                if not rest & own:
                    continue
                within = inside[clause][attribute] & allowed
                if not within:
                    active ^= bit
                elif within == allowed:
                    rest ^= own
                    left[clause] = rest
                    if not rest:
                        return False
                    if not rest & (rest - 1):
                        last = rest.bit_length() - 1
                        queue.append((last, levels[last] & ~inside[clause][last]))
        state.active = active
        return True

    def begin(self, box: Box, clauses: int) -> State | None:
        """The problem inside `box`, outside `clauses`; ``None`` if no profile is left."""
        state = self.start(clauses)
        if state.active & self.whole:
            return None
        # Clauses of one attribute have never been "the last attribute left": say so once.
        single = [
            (a, self.everything[a] & ~inside)
            for clause in bits(state.active & self.single)
            for a, inside in self.inside[clause].items()
        ]
        return state if self.narrow(state, [*box.items(), *single]) else None

    def split(self, state: State, attributes: int) -> tuple[int, list[tuple[int, int]]]:
        """Parts that share no attribute, as (clauses, attributes), and profiles of all the rest.

        The number of profiles is the product of the parts' numbers and of the first result.
        """
        parts = []
        left, clauses_of = state.open, self.clauses_of
        remaining, used = state.active, 0
        while remaining:
            clauses = todo = remaining & -remaining
            own = 0
            while todo:
                fresh = 0
                while todo:
                    bit = todo & -todo
                    todo ^= bit
                    fresh |= left[bit.bit_length() - 1]
                fresh &= ~own
                own |= fresh
                grown = 0
                while fresh:
                    bit = fresh & -fresh
                    fresh ^= bit
                    attribute = bit.bit_length() - 1
                    near = clauses_of[attribute] & remaining & ~clauses & ~grown
                    if self.many[attribute]:
                        # A narrowed attribute may no longer matter to a clause that names it.
                        while near:
                            other = near & -near
                            near ^= other
                            if left[other.bit_length() - 1] & bit:
                                grown |= other
                    else:
                        grown |= near
                clauses |= grown
                todo = grown
            remaining &= ~clauses
            used |= own
            parts.append((clauses, own))
        return self.profiles(state, attributes & ~used), parts

    def profiles(self, state: State, attributes: int) -> int:
        """Combinations of levels of `attributes`, clauses or not."""
        product, domains, levels = 1, self.domains, state.levels
        while attributes:
            bit = attributes & -attributes
            attributes ^= bit
            attribute = bit.bit_length() - 1
            product *= domains[attribute].size(levels[attribute])
        return product

    def inside_size(self, state: State, clauses: Sequence[int], everything: int) -> int:
        """How many of `everything` lie in the boxes of all `clauses` at once.

        Parameters
        ----------
        everything : int
            Combinations of a set of attributes that holds all that are open in `clauses`.
        """
        open_, levels, domains = 0, state.levels, self.domains
        for clause in clauses:
            open_ |= state.open[clause]
        whole = within = 1
        while open_:
            bit = open_ & -open_
            open_ ^= bit
            attribute = bit.bit_length() - 1
            mask = levels[attribute]
            size = domains[attribute].size
            whole *= size(mask)
            for clause in clauses:
                mask &= self.inside[clause].get(attribute, -1)
            if not mask:
                return 0
            within *= size(mask)
        return everything // whole * within
