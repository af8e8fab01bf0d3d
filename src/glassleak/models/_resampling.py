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

from glassleak.errors import InconsistentModelError, MalformedModelError, ModelTooLargeError
from glassleak.models._counts import MAX_COUNT, frozen_array
from glassleak.models._equality import ValueEquality

Kind = Literal["none", "known", "unknown"]
Recipe = Literal[
    "",
    "forest",
    "forest-weighted",
    "bagging",
    "bagging-without-replacement",
    "bagging-weighted",
    "bagging-weighted-without-replacement",
]

# Draws are repeated in memory: beyond this a file of a few bytes could ask for all of it.
MAX_ROWS = 2**28
_MAX_CELLS = 2**31
_CHUNK = 2**22


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
        scikit-learn >= 1.9), ``"bagging"``, ``"bagging-without-replacement"``, and the latter two
        with ``-weighted`` after ``bagging`` (scikit-learn >= 1.8).
    row_weights : float64 array, optional
        Drawing weights of the rows, for the weighted recipes.  Where the library kept them in
        another precision, they must be divided by their sum in that precision first.
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
                if not np.isfinite(array).all() or bool((array < 0).any()):
                    raise MalformedModelError("negative or not finite", f"bagging.{name}")
                object.__setattr__(self, name, array)
        if self.seeds is not None and self.seeds.size and int(self.seeds.max()) >= 2**32:
            raise MalformedModelError("a seed is not a 32-bit number", "bagging.seeds")
        self._check_features()
        by_recipe = self.seeds is not None and self.recipe != ""
        if (self.kind == "known") != (self.matrix is not None or by_recipe):
            raise MalformedModelError(
                "multiplicities are known exactly when a matrix, or seeds with a recipe, are given",
                "bagging",
            )
        if self.draws is not None and not 0 < self.draws <= MAX_COUNT:
            raise MalformedModelError(f"{self.draws} draws", "bagging.draws")
        if self.matrix is None and by_recipe and self.draws is None:
            raise MalformedModelError("seeds need the number of draws", "bagging.draws")
        if "weighted" in self.recipe:
            self._check_weights()

    def _check_features(self) -> None:
        place = "bagging.features"
        if len(self.features) != 3:
            raise MalformedModelError("expected columns, columns drawn, replaced", place)
        columns, drawn, replaced = self.features
        object.__setattr__(self, "features", (int(columns), int(drawn), bool(replaced)))
        if not 0 <= drawn <= columns <= MAX_ROWS or (replaced and not drawn):
            raise MalformedModelError(f"cannot draw {drawn} of {columns} columns", place)

    def _check_weights(self) -> None:
        if self.row_weights is None:
            raise MalformedModelError("the weighted recipe needs row weights", "bagging")
        with np.errstate(over="ignore"):
            total = float(np.sum(self.row_weights))
        if not 0 < total < np.inf:
            raise MalformedModelError(f"weights that add up to {total}", "bagging.row_weights")

    def check(self, n_trees: int, n_rows: int | None) -> None:
        """Raise unless the sizes fit a forest of `n_trees` trees on `n_rows` rows."""
        for name, value in (("seeds", self.seeds), ("matrix", self.matrix)):
            if value is not None and len(value) != n_trees:
                raise InconsistentModelError(
                    f"{len(value)} entries, not {n_trees}", f"bagging.{name}"
                )
        if n_rows is not None:
            self._check_rows(n_rows)
        elif self.kind == "known":
            raise MalformedModelError("known draws need n_rows", "bagging")

    def _check_rows(self, n_rows: int) -> None:
        if self.kind == "known" and max(n_rows, self.draws or 0) > MAX_ROWS:
            raise ModelTooLargeError(f"draws of more than {MAX_ROWS:,} rows", "bagging")
        if self.row_weights is not None and len(self.row_weights) != n_rows:
            raise InconsistentModelError(
                f"{len(self.row_weights)} entries, not {n_rows}", "bagging.row_weights"
            )
        if self.matrix is not None and self.matrix.shape[1] != n_rows:
            raise InconsistentModelError(f"not {n_rows} rows wide", "bagging.matrix")
        if self.kind != "known" or self.matrix is not None or self.draws is None:
            return
        if n_rows == 0:
            raise InconsistentModelError("draws from no rows", "bagging")
        if self.recipe.endswith("without-replacement"):
            possible = n_rows if self.row_weights is None else np.count_nonzero(self._shares())
            if self.draws > possible:
                raise InconsistentModelError(
                    f"{self.draws} draws without replacement from {possible} rows", "bagging.draws"
                )

    def _shares(self) -> npt.NDArray[np.float64]:
        assert self.row_weights is not None
        shares: npt.NDArray[np.float64] = self.row_weights / np.sum(self.row_weights)
        return shares

    def multiplicities_of(self, tree: int, n_rows: int) -> npt.NDArray[np.int32]:
        """How often each of the `n_rows` training rows was drawn for `tree`, in row order."""
        if self.kind == "none":
            return np.ones(n_rows, dtype=np.int32)
        if self.kind == "unknown":
            raise ValueError("the multiplicities are not known")
        self._check_rows(n_rows)
        if self.matrix is not None:
            row: npt.NDArray[np.int32] = self.matrix[tree]
            return row
        assert self.seeds is not None
        assert self.draws is not None
        rng = np.random.RandomState(int(self.seeds[tree]))
        if self.recipe.startswith("bagging"):
            n_features, drawn_features, replaced = self.features
            draw_indices(rng, replaced, n_features, drawn_features)
        shares = self._shares() if "weighted" in self.recipe else None
        if self.recipe.endswith("without-replacement"):
            drawn = (
                draw_indices(rng, False, n_rows, self.draws)
                if shares is None
                else rng.choice(n_rows, self.draws, replace=False, p=shares)
            )
            return np.bincount(drawn, minlength=n_rows).astype(np.int32)
        counts = np.zeros(n_rows, dtype=np.int32)
        # In parts: the stream is the same, and draws may outnumber rows by far.
        chunk = max(_CHUNK, n_rows)
        for start in range(0, self.draws, chunk):
            size = min(chunk, self.draws - start)
            part = (
                rng.randint(0, n_rows, size, dtype=np.int32)
                if shares is None
                else rng.choice(n_rows, size, replace=True, p=shares)
            )
            counts += np.bincount(part, minlength=n_rows).astype(np.int32)
        return counts

    def multiplicities(self, n_trees: int, n_rows: int) -> npt.NDArray[np.int32]:
        """All multiplicities, trees x rows."""
        if n_trees * n_rows > _MAX_CELLS:
            raise ModelTooLargeError(f"{n_trees:,} trees times {n_rows:,} rows", "bagging")
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
