"""The paper's experiments as data: which models are trained, on what, and how large."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from glassleak.papers._paper import Options

Learner: TypeAlias = Literal["greedy_tree", "optimal_tree", "greedy_rules", "optimal_rules"]

DATASETS = ("adult", "compas")
TITLES = {"adult": "Adult", "compas": "COMPAS"}
TREES: tuple[Learner, ...] = ("greedy_tree", "optimal_tree")
RULES: tuple[Learner, ...] = ("greedy_rules", "optimal_rules")
# The paper's learner, and ours where the paper's is not maintained or cannot be installed.
NAMES = {
    "greedy_tree": "scikit-learn",
    "optimal_tree": "optimal",
    "greedy_rules": "greedy",
    "optimal_rules": "optimal",
}
PUBLISHED_NAMES = {
    "greedy_tree": "sklearn_DT",
    "optimal_tree": "DL8.5",
    "greedy_rules": "GreedyRL",
    "optimal_rules": "CORELS",
}
SUPPORTS = (0.01, 0.02, 0.03, 0.04, 0.05)
DEPTHS = tuple(range(1, 11))
SEEDS = (0, 1, 2, 3, 4)

# Section V-A: a tenth of Adult, because DL8.5 could not manage more.
ADULT_SHARE = 0.1
TEST_SHARE = 0.2

QUICK_SUPPORTS = (0.01, 0.03, 0.05)
QUICK_DEPTHS = (1, 2, 3, 4, 5)
BUDGET_SECONDS = {"quick": 20.0, "full": 600.0}


@dataclass(frozen=True)
class Run:
    """One model.

    Attributes
    ----------
    dataset : "adult" or "compas"
    learner : "greedy_tree", "optimal_tree", "greedy_rules" or "optimal_rules"
    min_support : float
        Share of the training set every leaf or rule must hold.
    max_depth : int
        Of a tree; of a rule list the number of rules before the last.
    seed : int
        Of the split into training and test set, and of the learner.
    """

    dataset: str
    learner: Learner
    min_support: float
    max_depth: int
    seed: int = 0

    @property
    def key(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    @property
    def label(self) -> str:
        return (
            f"{TITLES[self.dataset]}, {NAMES[self.learner]}, support {self.min_support}, "
            f"depth {self.max_depth}, seed {self.seed}"
        )


def budget_of(options: Options) -> float:
    """Seconds allowed for training one model."""
    return options.budget_seconds or BUDGET_SECONDS[options.preset]


def grid(learners: tuple[Learner, ...], options: Options) -> list[Run]:
    """Figures 2, 3, 5 and 6: every support and depth."""
    supports, depths = supports_of(options), depths_of(options)
    return [
        Run(dataset, learner, support, depth, seed)
        for dataset in DATASETS
        for learner in learners
        for support in supports
        for depth in depths
        for seed in seeds_of(options)
    ]


def largest(options: Options) -> Iterator[Run]:
    """Figure 4: the deepest models with the smallest leaves."""
    for dataset in DATASETS:
        for learner in (*TREES, *RULES):
            for seed in seeds_of(options):
                yield Run(dataset, learner, SUPPORTS[0], depths_of(options)[-1], seed)


def supports_of(options: Options) -> tuple[float, ...]:
    return SUPPORTS if options.preset == "full" else QUICK_SUPPORTS


def depths_of(options: Options) -> tuple[int, ...]:
    return DEPTHS if options.preset == "full" else QUICK_DEPTHS


def seeds_of(options: Options) -> tuple[int, ...]:
    return SEEDS if options.preset == "full" else SEEDS[:1]
