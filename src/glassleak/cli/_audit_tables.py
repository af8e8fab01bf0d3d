"""Tables for an audit: CSV files of a size one can mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from glassleak.cli._common import read_table
from glassleak.errors import SchemaError

if TYPE_CHECKING:
    import pandas as pd

MOST_BYTES = 2_000_000_000


def read_data(path: str) -> pd.DataFrame:
    """A CSV file as a table.

    Raises
    ------
    SchemaError
        No such file, no table, or far more than a training set of these models.
    """
    file = Path(path)
    if file.is_file() and file.stat().st_size > MOST_BYTES:
        raise SchemaError(f"{file.name}: over {MOST_BYTES:,} bytes")
    table = read_table(file)
    if table.empty:
        raise SchemaError(f"{file.name} has no rows")
    return table
