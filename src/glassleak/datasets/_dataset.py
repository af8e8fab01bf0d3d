"""What the package hands out (`Dataset`, `DatasetInfo`) and what a table's module declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from glassleak.errors import DatasetUnavailableError
from glassleak.schema import Schema


class UnknownDatasetError(DatasetUnavailableError, ValueError):
    """No dataset, or no variant of it, has that name; the message lists those that exist."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """One variant of one table, with what is needed to use and to cite it.

    Attributes
    ----------
    name, variant : str
    data : DataFrame
        The attributes only.
    target : Series
        The class, named as in the source.
    schema : Schema
        Written by hand; it covers the columns of `data`, not the target.
    license, citation, source : str
    notes : tuple of str
        What was changed, and what to know before comparing figures with published ones.
    """

    name: str
    variant: str
    data: pd.DataFrame = field(repr=False)
    target: pd.Series = field(repr=False)
    schema: Schema = field(repr=False)
    license: str
    citation: str = field(repr=False)
    source: str = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)

    @property
    def frame(self) -> pd.DataFrame:
        """Attributes and target in one table, the target last."""
        return pd.concat([self.data, self.target], axis=1)


@dataclass(frozen=True)
class DatasetInfo:
    """One line of the catalogue; making it reads no table.

    Attributes
    ----------
    name, title : str
    variants : tuple of str
    n_rows, n_attributes : int
        Of the raw variant.
    embedded : bool
        Whether the table ships with the package.
    local : bool
        Whether it can be loaded without a download, as far as the file's presence tells.
    license, citation, source : str
    """

    name: str
    title: str
    variants: tuple[str, ...]
    n_rows: int
    n_attributes: int
    embedded: bool
    local: bool
    license: str
    citation: str
    source: str


@dataclass(frozen=True)
class Variant:
    """How one variant is made from the parsed source table.

    Attributes
    ----------
    build : callable
        From the parsed source table to attributes and target.
    target : str
        The target's column in what `build` returns.
    schema : callable
        Makes the schema; called on load so that importing the package stays cheap.
    notes : tuple of str
    """

    build: Callable[[pd.DataFrame], pd.DataFrame]
    target: str
    schema: Callable[[], Schema]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spec:
    """Everything one table's module declares."""

    name: str
    title: str
    n_rows: int
    n_attributes: int
    parse: Callable[[bytes], pd.DataFrame]
    variants: Mapping[str, Variant]
    license: str
    citation: str
    source: str
    notes: tuple[str, ...] = ()
