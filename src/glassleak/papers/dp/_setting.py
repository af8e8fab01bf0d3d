"""The paper's experiments as data: which lists are trained, on what, with which privacy."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, TypeAlias

from glassleak.papers._paper import Options

Learner: TypeAlias = Literal[
    "greedy", "certified", "smooth-laplace", "smooth-cauchy", "global-laplace",
    "global-gaussian", "exponential", "noisy-counts",
]  # fmt: skip

DATASETS = ("german", "compas", "adult")
TITLES = {"german": "German Credit", "compas": "COMPAS", "adult": "Adult"}
VARIANTS = {"german": "binary", "compas": "corels", "adult": "corels"}
# Columns whose names begin like this were removed "to avoid disparate treatment" (Section 5.1).
SENSITIVE = {
    "german": ("sex", "age", "personal_status", "foreign"),
    "compas": ("gender", "race", "sex"),
    "adult": ("gender", "sex", "race"),
}
# Section 5.1; lambda by dataset.
LENGTH, WIDTH, CONFIDENCE, TEST_SHARE = 5, 2, 0.99, 0.3
MIN_SUPPORT = {"german": 0.12, "compas": 0.05, "adult": 0.05}
NAMES = {
    "greedy": "greedy, not private",
    "certified": "glassleak, certified",
    "smooth-laplace": "smooth Laplace",
    "smooth-cauchy": "smooth Cauchy",
    "global-laplace": "global Laplace (noisy Gini)",
    "global-gaussian": "global Gaussian",
    "exponential": "exponential",
    "noisy-counts": "noisy counts",
}
COMPARED: tuple[Learner, ...] = (
    "certified", "smooth-laplace", "smooth-cauchy", "global-laplace", "global-gaussian",
    "exponential",
)  # fmt: skip
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
FIGURE_2_EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 20.0)
QUICK_EPSILONS = (0.1, 1.0, 10.0)
RUNS = {"quick": 10, "full": 100}


@dataclass(frozen=True)
class Run:
    """One learner at one epsilon, over many random splits.

    Attributes
    ----------
    dataset : str
    learner : str
    epsilon : float or None
        ``None`` for the list without privacy.
    n_runs : int
    """

    dataset: str
    learner: Learner
    epsilon: float | None
    n_runs: int

    @property
    def key(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    @property
    def label(self) -> str:
        budget = "" if self.epsilon is None else f", ε = {self.epsilon:g}"
        return f"{TITLES[self.dataset]}, {NAMES[self.learner]}{budget}, {self.n_runs} runs"


def runs_of(options: Options) -> int:
    return RUNS[options.preset]


def epsilons_of(options: Options, full: tuple[float, ...] = EPSILONS) -> tuple[float, ...]:
    return full if options.preset == "full" else QUICK_EPSILONS


def curves(
    datasets: tuple[str, ...],
    learners: tuple[Learner, ...],
    epsilons: tuple[float, ...],
    options: Options,
) -> list[Run]:
    """Every learner at every epsilon, and the list without privacy."""
    n = runs_of(options)
    return [
        *(Run(d, "greedy", None, n) for d in datasets),
        *(Run(d, a, e, n) for d in datasets for a in learners for e in epsilons),
    ]
