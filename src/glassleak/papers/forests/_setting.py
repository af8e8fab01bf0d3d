"""The paper's experiments as data: which forests are trained, and how they are attacked."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, TypeAlias

Attack: TypeAlias = Literal["auto", "rows-cp", "rows-milp"]
Formulation: TypeAlias = Attack | Literal["random"]
Convention: TypeAlias = Literal["paper", "tight"]

DATASETS = ("compas", "adult", "default_credit")
TITLES = {"compas": "COMPAS", "adult": "Adult", "default_credit": "Default Credit"}
DEPTHS = (2, 3, 4, 5, 10, None)
TREES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
SEEDS = (0, 1, 2, 3, 4)

# Section 7.1: a sample of the table, of which the first rows are the training set.
SAMPLE_ROWS = 1500
TRAINING_ROWS = 100

# The paper's "vects": first and last column of each one-hot group.  Every other column counts as
# independent, also where several of them belong to one attribute (Adult: occupation, work class).
ONE_HOT = {
    "compas": {"age": (1, 5), "priors": (9, 12)},
    "adult": {"education": (3, 8)},
    "default_credit": {"education": (0, 3), "marriage": (5, 7)},
}
# Tables where the schema that comes with the dataset knows more than the paper assumes.
TIGHTER = ("adult",)


@dataclass(frozen=True)
class Run:
    """One forest, one attack.

    Attributes
    ----------
    dataset : str
    max_depth : int or None
        ``None`` is no limit.
    n_trees, n_rows, seed : int
        The seed of sample, forest and attack alike.
    formulation : "auto", "rows-cp", "rows-milp" or "random"
        ``"auto"`` is glassleak's own choice, ``"random"`` the paper's baseline without a forest.
    schema : "paper" or "tight"
        Which profiles count as possible: the paper's convention, or the dataset's own schema.
    """

    dataset: str
    max_depth: int | None
    n_trees: int
    n_rows: int = TRAINING_ROWS
    seed: int = 0
    formulation: Formulation = "auto"
    schema: Convention = "paper"

    @property
    def key(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    @property
    def label(self) -> str:
        if self.formulation == "random":
            return f"{self.dataset}, guessing, seed {self.seed}"
        depth = "no limit" if self.max_depth is None else f"depth {self.max_depth}"
        how = "" if self.formulation == "auto" else f", {self.formulation}"
        return (
            f"{self.dataset}, {self.n_rows} rows, {self.n_trees} trees, {depth}, "
            f"seed {self.seed}{how}"
        )
