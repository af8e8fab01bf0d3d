"""The privacy budget as an object that refuses to be overspent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from glassleak.errors import GlassleakError


class BudgetOverspentError(GlassleakError):
    """More privacy was asked for than was left."""


@dataclass(frozen=True)
class Expense:
    """One access to the private data.

    Attributes
    ----------
    what : str
    epsilon : Fraction
    mechanism : str
    """

    what: str
    epsilon: Fraction
    mechanism: str


class Accountant:
    """Adds up what accesses cost: sequential composition.

    Accesses to disjoint groups of people (every person is in exactly one leaf) are one expense:
    a person's presence changes only the answer about their own group.

    Parameters
    ----------
    epsilon : Fraction
        What may be spent in all.
    unit : "epsilon" or "rho"
        What is added up: pure epsilon, or the rho of zero-concentrated differential privacy.
    """

    def __init__(self, epsilon: Fraction, unit: Literal["epsilon", "rho"] = "epsilon") -> None:
        if epsilon <= 0:
            raise ValueError(f"{unit} must be positive, not {epsilon}")
        self.epsilon = epsilon
        self.unit = unit
        self._ledger: list[Expense] = []

    @property
    def ledger(self) -> tuple[Expense, ...]:
        """Every access so far."""
        return tuple(self._ledger)

    @property
    def spent(self) -> Fraction:
        return sum((expense.epsilon for expense in self._ledger), Fraction(0))

    @property
    def left(self) -> Fraction:
        return self.epsilon - self.spent

    def spend(self, epsilon: Fraction, what: str, mechanism: str) -> Fraction:
        """Write the access down *before* it happens; returns `epsilon`.

        Raises
        ------
        BudgetOverspentError
            Nothing is recorded, and the data must not be touched.
        """
        if epsilon <= 0:
            raise ValueError(f"an access costs something: {what}")
        if epsilon > self.left:
            raise BudgetOverspentError(
                f"{what} would cost {float(epsilon):g}, but of {float(self.epsilon):g} only "
                f"{float(self.left):g} is left"
            )
        self._ledger.append(Expense(what, epsilon, mechanism))
        return epsilon

    def lines(self) -> list[dict[str, Any]]:
        """The ledger as plain data."""
        return [
            {"what": e.what, self.unit: float(e.epsilon), "mechanism": e.mechanism}
            for e in self._ledger
        ]
