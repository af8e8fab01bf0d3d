"""The tables of a result: per leaf or rule, per level of exposure, per group of people."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import SchemaError
from glassleak.uncertainty._conditions import conditions_text
from glassleak.uncertainty._groups import Groups
from glassleak.uncertainty._values import model_values

# Writing out the path to every leaf of larger trees takes longer than everything else.
_DESCRIBED = 20_000
# Columns with more values than this are no groups of people.
_VALUES = 12


def per_leaf(groups: Groups) -> pd.DataFrame:
    """One line per leaf or rule."""
    whole = math.log2(groups.n_profiles)
    lows = [c.low for c in groups.counts]
    bits = np.array([math.log2(low) if low else math.nan for low in lows])
    table = pd.DataFrame({"leaf": groups.numbers, "rows": groups.rows})
    if len(groups) <= _DESCRIBED:
        table.insert(1, "conditions", [conditions_text(groups, i) for i in range(len(groups))])
    # Python integers: the numbers may have hundreds of digits.
    table["profiles"] = pd.Series(lows, dtype=object)
    table["profiles_low"] = pd.Series(lows, dtype=object)
    table["profiles_high"] = pd.Series([c.high for c in groups.counts], dtype=object)
    table["bits"] = bits
    table["share"] = bits / whole if whole else 0.0
    table["attributes_share"] = groups.shares
    table["exact"] = [c.exact for c in groups.counts]
    return table


def exposure(leaves: pd.DataFrame) -> pd.DataFrame:
    """How many people have how little left (Figure 4), from the most exposed."""
    held = leaves.loc[leaves["rows"] > 0]
    table = held.groupby("bits", sort=True).agg(share=("share", "first"), people=("rows", "sum"))
    table = table.reset_index()
    total = int(table["people"].sum())
    table["at_most"] = table["people"].cumsum() / max(total, 1)
    return table


def leaf_of_rows(groups: Groups, data: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Which line of `per_leaf` each row of a table belongs to.

    Raises
    ------
    SchemaError
        The table lacks columns of the model, or has values the model cannot place.
    """
    values, _ = model_values(data, groups.model.columns, groups.schema)
    try:
        place = groups.model.apply(values)
    except ValueError as error:
        raise SchemaError(f"the data do not fit the model: {error}") from None
    number = np.full(int(groups.numbers.max()) + 1, -1, dtype=np.int64)
    number[groups.numbers] = np.arange(len(groups))
    return number[place]


def by_group(
    groups: Groups, leaves: pd.DataFrame, data: pd.DataFrame, by: Sequence[str] | None
) -> pd.DataFrame:
    """What remains for groups of people, from the most exposed.

    Parameters
    ----------
    by : sequence of str, optional
        Columns of `data` whose values make the groups, each on its own; by default every column
        with at most 12 values.
    """
    line = leaf_of_rows(groups, data)
    person = leaves.loc[line, ["bits", "share"]].reset_index(drop=True)
    person["single"] = np.array([c.high == 1 for c in groups.counts])[line]
    names = list(data.columns) if by is None else list(by)
    unknown = [name for name in names if name not in data.columns]
    if unknown:
        raise SchemaError(f"the data have no column {unknown[0]!r} to group by")
    found = []
    for name in names:
        values = data[name].reset_index(drop=True)
        if by is None and values.nunique(dropna=False) > _VALUES:
            continue
        for value, some in person.groupby(values, dropna=False):
            found.append((
                name, value, len(some), some["bits"].mean(), some["share"].mean(),
                some["bits"].min(), int(some["single"].sum()),
            ))  # fmt: skip
    table = pd.DataFrame(
        found,
        columns=["column", "value", "people", "bits", "share", "least_bits", "single_profile"],
    )
    return table.sort_values("bits", kind="stable", ignore_index=True)
