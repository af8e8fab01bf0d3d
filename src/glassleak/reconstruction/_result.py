"""What a reconstruction returns: the table, and what was proved about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Status: TypeAlias = Literal["unique", "consistent", "likely", "partial"]


@dataclass(frozen=True)
class Certificate:
    """What was proved, and by what.

    Attributes
    ----------
    replayed : bool
        The table was sent through every tree and reproduced every published count.
    unique : bool or None
        Whether it is the only table (up to the order of rows) that does; ``None`` if undecided.
    proof : str
        How uniqueness was decided, in words.
    certain_rows : int
        Rows that every consistent table contains: this many people are provably in the training
        set with exactly these values and class.
    complete : bool
        Whether it was decided for every row; otherwise `certain_rows` is a lower bound.
    certain_in_part : int
        Further rows every consistent table contains up to values the model does not tell apart.
    bounds : DataFrame
        One line per possible (cell, class) that is not provably empty: a profile of the cell in
        the model's columns, ``class``, ``minimum`` and ``maximum`` count over all consistent
        tables, ``exact`` (both attained, and not only bounds), ``profiles`` (valid profiles in it).
    statements : tuple of str
        The above as sentences.
    """

    replayed: bool
    unique: bool | None
    proof: str
    certain_rows: int
    complete: bool
    certain_in_part: int
    bounds: pd.DataFrame
    statements: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reconstruction:
    """A reconstructed training set.

    Attributes
    ----------
    table : DataFrame
        In the model's columns, one line per training row.
    labels : array
        Their classes.
    status : "unique", "consistent", "likely" or "partial"
        The only consistent table; one of several; the most probable one; not all rows.
    exact : bool
        Whether the table reproduces every published count.
    seconds : float
    certificate : Certificate
    confidence : float array
        Per row: 1 for rows every consistent table contains, otherwise the share of sampled
        consistent tables that contain it, divided by the profiles its cell could stand for.
    alike : int array
        Per row: how many rows of the table share its cell and class, itself included.
    formulation : str
    details : dict
        Sizes, methods and timings of the steps.  ``details["values"]`` says how far the values of
        numbers are known (see `values_told`), in every formulation.
    proved_values : DataFrame of bool, optional
        In the model's columns: cells that hold a number (or a category as a code) which is proved
        for the row to the last digit, provided that the row itself is in the training set.
    """

    table: pd.DataFrame
    labels: npt.NDArray[Any]
    status: Status
    exact: bool
    seconds: float
    certificate: Certificate
    confidence: npt.NDArray[np.float64]
    alike: npt.NDArray[np.int64]
    formulation: str
    details: dict[str, Any] = field(default_factory=dict)
    proved_values: pd.DataFrame | None = None

    @property
    def values_told(self) -> dict[str, Any]:
        """How far the values of numbers are known; empty if the table has none.

        ``share_exact``: share that is proved to the last digit, ``None`` if where the rows are is
        not proved itself; ``share_if_placed``: share that follows if the rows are placed rightly,
        ``None`` if some certainly are not; ``numbers``: how many there are; ``reason``: why.
        """
        return dict(self.details.get("values") or {})
