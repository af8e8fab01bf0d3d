"""A schema: the attributes people are described by, hence which profiles are possible at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glassleak.errors import SchemaError
from glassleak.schema._attributes import Attribute, columns_of
from glassleak.schema._checks import is_missing
from glassleak.schema._evidence import SplitEvidence

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Guess:
    """One thing about an attribute that was inferred and not declared.

    Attributes
    ----------
    attribute : str
        The attribute's name.
    what : str
        What was assumed, such as ``"whole numbers from 17 to 90"``.
    reason : str
        Why.
    source : str
        ``"data"``, ``"model"`` or ``"column name"`` (a hint that data or model did not refute).
    """

    attribute: str
    what: str
    reason: str
    source: str


@dataclass(frozen=True, init=False)
class Schema:
    """An ordered list of attributes.

    Parameters
    ----------
    attributes : iterable of Binary, Categorical, Ordinal, Numeric or Bins
    guesses : iterable of Guess
        What was inferred; empty for a schema somebody wrote down.

    Examples
    --------
    >>> import glassleak as gl
    >>> schema = gl.Schema([gl.Binary("sex"), gl.Ordinal("grade", low=0, high=7)])
    >>> schema.n_profiles
    16
    """

    attributes: tuple[Attribute, ...]
    guesses: tuple[Guess, ...]

    def __init__(self, attributes: Iterable[Attribute], guesses: Iterable[Guess] = ()) -> None:
        attributes = tuple(attributes)
        if not attributes:
            raise SchemaError("a schema needs at least one attribute")
        for attribute in attributes:
            if not isinstance(attribute, Attribute):
                raise SchemaError(f"{attribute!r} is not an attribute")
        for what, names in (
            ("attribute", [a.name for a in attributes]),
            ("column", columns_of(attributes)),
        ):
            seen: set[str] = set()
            for name in names:
                if name in seen:
                    raise SchemaError(f"the schema lists {what} {name!r} twice")
                seen.add(name)
        object.__setattr__(self, "attributes", attributes)
        object.__setattr__(self, "guesses", tuple(guesses))

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise KeyError(name)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column, attribute by attribute."""
        return columns_of(self.attributes)

    @property
    def n_profiles(self) -> int | None:
        """Exact number of valid profiles; ``None`` if a numeric attribute has no resolution."""
        sizes = [attribute.size for attribute in self.attributes]
        if any(size is None for size in sizes):
            return None
        return math.prod(size for size in sizes if size is not None)

    def attribute_of(self, column: str) -> Attribute:
        """The attribute that `column` belongs to."""
        for attribute in self.attributes:
            if column in attribute.columns:
                return attribute
        raise SchemaError(f"no attribute of the schema has a column {column!r}")

    def check_columns(self, columns: Sequence[str]) -> None:
        """Raise `SchemaError` unless the schema covers exactly `columns` (in any order)."""
        own, given = set(self.columns), set(columns)
        missing = [c for c in columns if c not in own]
        extra = [c for c in self.columns if c not in given]
        if missing or extra:
            parts = []
            if missing:
                parts.append(f"the schema lacks {_some(missing)}")
            if extra:
                parts.append(f"the schema has {_some(extra)}, which the model or table has not")
            raise SchemaError("; ".join(parts))

    def invalid_rows(self, table: pd.DataFrame | npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which rows of `table` no profile of the schema matches.

        Parameters
        ----------
        table : DataFrame, or array whose columns are in the schema's order
        """
        bad: npt.NDArray[np.bool_] | None = None
        for attribute in self.attributes:
            refused = ~attribute.allows(_block(table, attribute.columns, self.columns))
            bad = refused if bad is None else bad | refused
        assert bad is not None
        return bad

    @classmethod
    def infer(
        cls, source: pd.DataFrame | npt.ArrayLike | SplitEvidence, columns: Any = None
    ) -> Schema:
        """Guess a schema from a table or from a model alone; every guess is in `guesses`.

        Parameters
        ----------
        source : DataFrame, array or model
            From a table, guesses are checked against every row.  From a model
            (:class:`glassleak.Tree`, ``Forest``, ``RuleList``) only thresholds and counts are
            there to go by, and where they leave a doubt the larger set of profiles is assumed.
        columns : sequence of str, optional
            Names for an array's columns; ``x0, x1, …`` by default.
        """
        from glassleak.schema._infer_data import infer_from_table
        from glassleak.schema._infer_model import infer_from_model

        if isinstance(source, SplitEvidence):
            return infer_from_model(source)
        evidence = getattr(source, "split_evidence", None)
        if callable(evidence):  # and not a frame's column of that name
            return infer_from_model(evidence())
        return infer_from_table(source, columns)

    def to_toml(self, path: str | Path | None = None) -> str:
        """The schema as TOML text, also written to `path` when given."""
        from glassleak.schema._toml import dump_toml

        return dump_toml(self, path)

    @classmethod
    def from_toml(cls, source: str | Path) -> Schema:
        """Read a schema from a TOML file, or from TOML text (anything that contains a newline)."""
        from glassleak.schema._toml import load_toml

        return load_toml(source)


def _some(names: Sequence[str], limit: int = 5) -> str:
    shown = ", ".join(repr(n) for n in names[:limit])
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"


def _block(table: Any, wanted: Sequence[str], order: Sequence[str]) -> npt.NDArray[Any]:
    """The columns `wanted` of a frame (by name) or of an array (by the schema's order)."""
    if hasattr(table, "loc"):
        # Names are text in a schema; a frame may number its columns.
        where = {str(c): i for i, c in enumerate(table.columns)}
        if len(where) != len(table.columns):
            raise SchemaError("the table has two columns of the same name")
        missing = [c for c in wanted if c not in where]
        if missing:
            raise SchemaError(f"the table lacks {_some(missing)}")
        values: npt.NDArray[Any] = table.iloc[:, [where[c] for c in wanted]].to_numpy()
        if values.dtype == object:  # pandas.NA is no number, NaN is
            values = np.where(np.vectorize(is_missing, otypes=[bool])(values), np.nan, values)
        return values
    array = np.asarray(table)
    if array.ndim != 2 or array.shape[1] != len(order):
        raise SchemaError(f"expected a table of {len(order)} columns, got shape {array.shape}")
    return array[:, [order.index(c) for c in wanted]]
