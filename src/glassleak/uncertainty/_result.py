"""What remains uncertain about a training set once its model is published."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

    from glassleak.uncertainty._dataset import ProbabilisticDataset

Status: TypeAlias = Literal["exact", "bounded", "estimated"]


@dataclass(frozen=True)
class Remaining:
    """Bits needed to name the training set among those the model leaves possible.

    Attributes
    ----------
    low, high : float
        Proved bounds on log2 of the number of possible tables; equal when it is known exactly.
    uninformed : float
        The same for somebody who knows the schema and the number of rows, but not the model.
    estimate : float, optional
        A best guess between the bounds, where there is one.
    """

    low: float
    high: float
    uninformed: float
    estimate: float | None = None

    @property
    def exact(self) -> bool:
        """Whether the number of possible tables is known exactly."""
        return self.low == self.high

    @property
    def bits(self) -> float:
        """The exact figure; else the estimate; else the lower bound, which promises least."""
        return self.low if self.exact or self.estimate is None else self.estimate

    @property
    def share(self) -> float:
        """Dist_G: `bits` as a share of `uninformed`; 0 where there was nothing to guess."""
        return self.bits / self.uninformed if self.uninformed else 0.0

    @property
    def share_low(self) -> float:
        """Lower bound of `share`."""
        return self.low / self.uninformed if self.uninformed else 0.0

    @property
    def share_high(self) -> float:
        """Upper bound of `share`."""
        return self.high / self.uninformed if self.uninformed else 0.0


@dataclass(frozen=True, repr=False)
class Uncertainty:
    """How uncertain the training set remains, given one model or several.

    All measures are of what *remains*: 0 bits means that only one table is possible, a share of 1
    that the model says nothing.  (The paper calls the share "entropy reduction ratio".)

    Attributes
    ----------
    status : "exact", "bounded" or "estimated"
        Counted exactly; proved bounds only; bounds and an estimate between them.
    method : str
        How the tables were counted, in words.
    seconds : float
    n_rows : int
        People the figures are about.
    n_profiles : int
        Profiles a person could have, by the schema.
    columns_independent : bool
        Whether every column was taken as an attribute of its own, as the paper does.
    ordered : Remaining, optional
        Every row in its place: the paper's convention, in which it is known which rows each leaf
        holds and only their values are open.
    unordered : Remaining, optional
        Tables as multisets of rows without their class: the order of rows does not matter.
    unordered_by_class : Remaining, optional
        The same with every row's class; the class totals count as known to everybody.
    dist : float, optional
        Equation 1: the mean over rows and attributes of what remains of each attribute alone.
    per_leaf : DataFrame, optional
        One line per leaf or rule: ``leaf``, ``conditions``, ``rows``, ``profiles`` (exact, or the
        lower bound), ``profiles_low``, ``profiles_high``, ``bits`` a person in it still has to be
        guessed by, ``share`` of what it was without the model, ``attributes_share`` (Dist of one
        of its rows), ``exact``.
    per_model : DataFrame, optional
        One line per tree or model where several were given.
    exposure : DataFrame, optional
        How unequally people are exposed (Figure 4): from the most exposed, ``bits``, ``share``,
        ``people`` with exactly this much left, and ``at_most``, the share of people with this much
        or less.
    by_group : DataFrame, optional
        The same by groups of people, where data was given: ``people``, ``bits``, ``share``,
        ``least_bits``, ``single_profile``.
    conventions : DataFrame, optional
        The measures with valid profiles and with independent columns, side by side.
    dataset : ProbabilisticDataset, optional
        The set of possible tables itself.
    notes : tuple of str
        What was assumed or left out.
    details : dict
        Sizes and timings of the steps.
    """

    status: Status
    method: str
    seconds: float
    n_rows: int
    n_profiles: int
    columns_independent: bool = False
    ordered: Remaining | None = None
    unordered: Remaining | None = None
    unordered_by_class: Remaining | None = None
    dist: float | None = None
    per_leaf: pd.DataFrame | None = None
    per_model: pd.DataFrame | None = None
    exposure: pd.DataFrame | None = None
    by_group: pd.DataFrame | None = None
    conventions: pd.DataFrame | None = None
    dataset: ProbabilisticDataset | None = None
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def main(self) -> Remaining:
        """The figures `bits` and `dist_g` report: ordered rows where they are defined."""
        for found in (self.ordered, self.unordered_by_class, self.unordered):
            if found is not None:
                return found
        return Remaining(math.nan, math.nan, math.nan)

    @property
    def exact(self) -> bool:
        """Whether every figure is exact (up to the rounding of a logarithm)."""
        return self.status == "exact"

    @property
    def bits(self) -> float:
        """Bits that remain (Equation 10)."""
        return self.main.bits

    @property
    def bits_low(self) -> float:
        """Proved lower bound of `bits`."""
        return self.main.low

    @property
    def bits_high(self) -> float:
        """Proved upper bound of `bits`."""
        return self.main.high

    @property
    def bits_estimate(self) -> float | None:
        """Best guess between the bounds, where there is one."""
        return self.main.estimate

    @property
    def bits_uninformed(self) -> float:
        """Bits without the model (Equation 4)."""
        return self.main.uninformed

    @property
    def bits_per_row(self) -> float:
        """Bits that remain per person."""
        return self.bits / self.n_rows if self.n_rows else 0.0

    @property
    def dist_g(self) -> float:
        """Equation 2: the share of the uncertainty that remains."""
        return self.main.share

    @property
    def single_profile(self) -> int | None:
        """People whose leaf or rule leaves a single possible profile, where leaves were counted."""
        if self.per_leaf is None:
            return None
        alone = self.per_leaf["profiles_high"] == 1
        return int(self.per_leaf.loc[alone, "rows"].sum())

    @property
    def statements(self) -> tuple[str, ...]:
        """What the figures mean, as sentences."""
        from glassleak.uncertainty._words import statements

        return statements(self)

    def __repr__(self) -> str:
        found = self.main
        left = (
            f"{found.low:,.6g} to {found.high:,.6g}"
            if self.status == "bounded" and not found.exact
            else f"{found.bits:,.6g}"
        )
        return (
            f"<Uncertainty: {left} of {found.uninformed:,.6g} bits remain "
            f"(dist_g {found.share:.6f}), {self.n_rows:,} rows, {self.status}>"
        )
