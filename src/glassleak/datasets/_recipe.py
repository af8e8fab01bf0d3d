"""The few operations that the binary encodings are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd


def indicators(columns: Mapping[str, pd.Series]) -> pd.DataFrame:
    """A table of zeros and ones from boolean columns, in the mapping's order."""
    return pd.DataFrame({name: column.to_numpy(dtype=np.int64) for name, column in columns.items()})


def one_hot(column: pd.Series, levels: Mapping[str, Iterable[object]]) -> dict[str, pd.Series]:
    """Boolean columns that say whether `column` holds one of the listed values."""
    return {name: column.isin(list(values)) for name, values in levels.items()}


def permutation(n_rows: int, seed: int) -> npt.NDArray[np.int64]:
    """The order in which a published table was shuffled.

    ``RandomState`` and not ``default_rng``: the published tables were made with the legacy
    generator, whose stream NumPy has frozen.
    """
    return np.random.RandomState(seed).permutation(n_rows)


def shuffled(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """All rows of `frame` in the order of `permutation`, numbered afresh."""
    return frame.iloc[permutation(len(frame), seed)].reset_index(drop=True)
