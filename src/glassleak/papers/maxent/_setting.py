"""The paper's experiment as data: which trees are grown, and what is published of them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, TypeAlias

from glassleak.papers._paper import Options

Measure: TypeAlias = Literal["gini", "entropy"]
Level: TypeAlias = Literal["labels", "rates", "counts"]
Size: TypeAlias = Literal["paper", "whole"]

MEASURES: tuple[Measure, ...] = ("gini", "entropy")
TITLES: dict[Measure, str] = {"gini": "Gini index", "entropy": "information gain"}

# Section 5: the eight attributes that give the paper's 4,480 quasi-identifiers, and its class.
QUASI_IDENTIFIERS = (
    "workclass", "marital_status", "occupation", "relationship", "race", "sex", "native_country",
    "income",
)  # fmt: skip
SENSITIVE = "education"

# The paper does not say when its trees stop growing.  These settings come closest to the numbers
# of rate- and internal-constraints it reports, for each measure on its own.
STOPS: dict[Measure, dict[str, float]] = {
    "gini": {"min_gain": 0.025},
    "entropy": {"min_samples_split": 7},
}
BUDGET_SECONDS = {"quick": 60.0, "full": 600.0}
# Starting points where only local optima can be found.
STARTS = {"quick": 1, "full": 3}


@dataclass(frozen=True)
class Run:
    """One tree, and what an adversary is told of it.

    Attributes
    ----------
    measure : "gini" or "entropy"
        By which splits were chosen.
    level : "labels", "rates" or "counts"
        What is published of leaves; the paper has the first two.
    implicit : bool
        Whether the adversary uses that every chosen split was a best one.
    size : "paper" or "whole"
        A tree of about the paper's size, or one that grows until nothing is left to split.
    starts : int
        Starting points where only local optima can be found.
    """

    measure: Measure
    level: Level
    implicit: bool
    size: Size = "paper"
    starts: int = 1

    @property
    def key(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    @property
    def label(self) -> str:
        facts = "with" if self.implicit else "without"
        whole = "" if self.size == "paper" else ", whole tree"
        return f"{TITLES[self.measure]}, {self.level}, {facts} implicit information{whole}"


def run_of(
    measure: Measure, level: Level, *, implicit: bool, options: Options, size: Size = "paper"
) -> Run:
    """A run as the preset wants it."""
    # Only at the level of error rates is the problem not convex.
    local = implicit and level == "rates"
    return Run(measure, level, implicit, size, STARTS[options.preset] if local else 1)


def within_reach(run: Run, options: Options) -> bool:
    """Whether the preset carries out a run: one takes most of an hour, and nothing else does.

    Information gain with error rates makes hundreds of non-convex comparisons of large groups.
    """
    long = run.implicit and run.level == "rates" and run.measure == "entropy"
    return options.preset == "full" or not long


def sizes_of(options: Options) -> tuple[Size, ...]:
    return ("paper", "whole") if options.preset == "full" else ("paper",)


def budget_of(options: Options) -> float:
    """Seconds allowed for a run."""
    return options.budget_seconds or BUDGET_SECONDS[options.preset]
