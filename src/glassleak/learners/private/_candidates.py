"""Which rules may be chosen: decided by the schema, before anybody looks at the data.

Rules mined from the private table, or cuts at its quantiles, are functions of it that no budget
pays for: publishing them is not private at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError
from glassleak.learners._literals import Cuts, Literals
from glassleak.learners._literals import _by_column as cuts_by_column
from glassleak.schema import Attribute, Numeric, Ordinal, Schema

# Pairs of more conditions would fill memory; and noise would drown a choice among so many.
MOST_LITERALS = 3000


@dataclass(frozen=True)
class Candidates:
    """Conjunctions of one or two conditions.

    Attributes
    ----------
    literals : Literals
    first, second : int arrays
        The conditions of each candidate; the same one twice for a single condition.
    """

    literals: Literals
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    def members(self, i: int) -> list[int]:
        """The conditions of candidate `i`."""
        return sorted({int(self.first[i]), int(self.second[i])})


def candidates_of(literals: Literals, max_width: int) -> Candidates:
    """Every single condition and, at width 2, every pair that can hold together."""
    single = np.arange(len(literals))
    if max_width == 1:
        return Candidates(literals, single, single)
    if len(literals) > MOST_LITERALS:
        raise ValueError(
            f"{len(literals):,} conditions make too many pairs (at most {MOST_LITERALS:,} can be "
            "paired): use max_width=1, fewer thresholds or fewer columns"
        )
    first, second = np.nonzero(np.triu(literals.compatible(), k=1))
    return Candidates(literals, np.concatenate([single, first]), np.concatenate([single, second]))


def public_literals(
    names: Sequence[str], schema: Schema | None, thresholds: Cuts | None, n_thresholds: int
) -> Literals:
    """Conditions that depend on nothing but names, schema and cuts given by the user.

    Parameters
    ----------
    names : sequence of str
        The table's columns.
    schema : Schema, optional
        Numbers are cut at `n_thresholds` evenly spaced places between their declared bounds.
        Without a schema every column is taken to hold zeros and ones and is cut at 0.5.
    thresholds : mapping, optional
        Cuts of some columns, by name or number; they win over the schema's.
    n_thresholds : int
    """
    cuts = {i: np.array([0.5]) for i in range(len(names))}
    if schema is not None:
        schema.check_columns(names)
        position = {name: i for i, name in enumerate(names)}
        for attribute in schema:
            found = _cuts(attribute, n_thresholds)
            cuts |= {position[column]: found for column in attribute.columns}
    cuts |= cuts_by_column(thresholds, names)
    entries = [
        (column, float(cut), above)
        for column in range(len(names))
        for cut in cuts[column]
        for above in (True, False)
    ]
    if not entries:
        raise SchemaError("no column can be cut anywhere, so there is no rule to choose from")
    column, cut, above = zip(*entries, strict=True)
    return Literals(np.array(column, dtype=np.int64), np.array(cut), np.array(above))


def _cuts(attribute: Attribute, n_thresholds: int) -> npt.NDArray[np.float64]:
    if not isinstance(attribute, Ordinal | Numeric):
        levels = attribute.level_values()
        ends = np.unique(levels[~np.isnan(levels)])
        return ends[:-1] / 2 + ends[1:] / 2
    if attribute.size is not None and attribute.size - attribute.missing <= n_thresholds + 1:
        levels = np.unique(attribute.level_values())
        levels = levels[~np.isnan(levels)]
        return levels[:-1] / 2 + levels[1:] / 2
    return np.linspace(float(attribute.low), float(attribute.high), n_thresholds + 2)[1:-1]
