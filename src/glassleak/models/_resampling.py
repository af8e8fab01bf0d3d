"""Which rows each tree of a bagged forest saw.

Bagging libraries store one seed per tree and not the drawn rows.  The seed is enough: numpy's
legacy generator is frozen by policy, so the draw can be repeated on any machine.  The functions
below repeat scikit-learn's draws without scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from glassleak.errors import InconsistentModelError, MalformedModelError
from glassleak.models._counts import MAX_COUNT, frozen_array
from glassleak.models._equality import ValueEquality

Kind = Literal["none", "known", "unknown"]
Recipe = Literal["", "forest", "forest-weighted", "bagging", "bagging-without-replacement"]


@dataclass(frozen=True, eq=False)
class Bagging(ValueEquality):
    """What is known about the rows drawn for each tree.

    Attributes
    ----------
    kind : "none", "known" or "unknown"
        Every tree saw every row once; or the draws are known; or they are not.
    draws : int, optional
        Rows drawn per tree.
    seeds : int64 array, optional
        One per tree; with `recipe` they repeat the draws.
    recipe : str
        ``"forest"`` (RandomForest, ExtraTrees), ``"forest-weighted"`` (the same with row weights,
        scikit-learn >= 1.9), ``"bagging"`` and ``"bagging-without-replacement"``.
    row_weights : float64 array, optional
        Drawing weights of the rows, for the weighted recipe.
    features : (int, int, bool)
        For the bagging recipes: columns, columns drawn, with replacement or not.  They are drawn
        first and move the generator on.
    matrix : int32 array, optional
        The multiplicities themselves (trees x rows) where no recipe exists.
    """

    kind: Kind = "none"
    draws: int | None = None
    seeds: npt.NDArray[np.int64] | None = None
    recipe: Recipe = ""
    row_weights: npt.NDArray[np.float64] | None = None
    features: tuple[int, int, bool] = (0, 0, False)
    matrix: npt.NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind) or self.recipe not in get_args(Recipe):
            raise MalformedModelError("unknown kind or recipe", "bagging")
        for name, dtype, ndim in (
            ("seeds", np.int64, 1),
            ("row_weights", np.float64, 1),
            ("matrix", np.int32, 2),
        ):
            value = getattr(self, name)
            if value is not None:
                array = frozen_array(value, dtype, f"bagging.{name}", ndim)
                if not np.isfinite(array).all() or array.size and array.min() < 0:
                    raise MalformedModelError("negative or not finite", f"bagging.{name}")
                object.__setattr__(self, name, array)
        if self.seeds is not None and self.seeds.size and int(self.seeds.max()) >= 2**32:
            raise MalformedModelError("a seed is not a 32-bit number", "bagging.seeds")
        object.__setattr__(self, "features", tuple(self.features))
        if len(self.features) != 3 or not 0 <= self.features[1] <= self.features[0] <= 2**31:
            raise MalformedModelError(
                "expected columns, columns drawn, replaced", "bagging.features"
            )
        known = self.matrix is not None or (self.seeds is not None and self.recipe != "")
        if (self.kind == "known") != known:
            raise MalformedModelError(
                "multiplicities are known exactly when a matrix, or seeds with a recipe, are given",
                "bagging",
            )
        if self.draws is not None and not 0 < self.draws <= MAX_COUNT:
            raise MalformedModelError(f"{self.draws} draws", "bagging.draws")
        if self.recipe == "forest-weighted" and self.row_weights is None:
            raise MalformedModelError("the weighted recipe needs row weights", "bagging")

    def check(self, n_trees: int, n_rows: int | None) -> None:
        """Raise unless the sizes fit a forest of `n_trees` trees on `n_rows` rows."""
        for name, value, size in (
            ("seeds", self.seeds, n_trees),
            ("matrix", self.matrix, n_trees),
            ("row_weights", self.row_weights, n_rows),
        ):
            if value is not None and size is not None and len(value) != size:
                raise InconsistentModelError(f"{len(value)} entries, not {size}", f"bagging.{name}")
        if self.kind == "known" and (n_rows is None or (self.matrix is None and not self.draws)):
            raise MalformedModelError("known draws need n_rows and draws", "bagging")
        if self.matrix is not None and n_rows is not None and self.matrix.shape[1] != n_rows:
            raise InconsistentModelError(f"not {n_rows} rows wide", "bagging.matrix")

    def multiplicities_of(self, tree: int, n_rows: int) -> npt.NDArray[np.int32]:
        """How often each of the `n_rows` training rows was drawn for `tree`, in row order."""
        if self.kind == "none":
            return np.ones(n_rows, dtype=np.int32)
        if self.kind == "unknown":
            raise ValueError("the multiplicities are not known")
        if self.matrix is not None:
            return self.matrix[tree]
        assert self.seeds is not None and self.draws is not None
        rng = np.random.RandomState(int(self.seeds[tree]))
        if self.recipe == "forest":
            drawn = rng.randint(0, n_rows, self.draws, dtype=np.int32)
        elif self.recipe == "forest-weighted":
            assert self.row_weights is not None
            share = self.row_weights / np.sum(self.row_weights)
            drawn = rng.choice(n_rows, self.draws, replace=True, p=share)
        else:
            n_features, drawn_features, replaced = self.features
            draw_indices(rng, replaced, n_features, drawn_features)
            drawn = draw_indices(rng, self.recipe == "bagging", n_rows, self.draws)
        return np.bincount(drawn, minlength=n_rows).astype(np.int32)

    def multiplicities(self, n_trees: int, n_rows: int) -> npt.NDArray[np.int32]:
        """All multiplicities, trees x rows."""
        return np.stack([self.multiplicities_of(t, n_rows) for t in range(n_trees)])


def draw_indices(
    rng: np.random.RandomState, replacement: bool, population: int, draws: int
) -> npt.NDArray[np.int64]:
    """`draws` indices below `population`, in the order and manner scikit-learn draws them.

    Without replacement scikit-learn switches between three algorithms by the share drawn; the
    generator's stream differs between them, so the switch has to be repeated too.
    """
    if replacement:
        return rng.randint(0, population, draws)
    share = draws / population if population else 1.0
    if 0.01 < share < 0.99:
        return rng.permutation(population)[:draws].astype(np.int64)
    if share < 0.2:
        chosen: dict[int, None] = {}
        while len(chosen) < draws:
            chosen.setdefault(int(rng.randint(population)))
        return np.fromiter(chosen, np.int64, draws)
    reservoir = np.arange(draws, dtype=np.int64)
    for i in range(draws, population):
        j = int(rng.randint(0, i + 1))
        if j < draws:
            reservoir[j] = i
    return reservoir
