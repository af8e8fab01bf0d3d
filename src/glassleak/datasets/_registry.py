"""The catalogue, and the three functions the package is about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from glassleak.datasets import _adult, _compas, _default_credit, _german, _store
from glassleak.datasets._dataset import Dataset, DatasetInfo, Spec, UnknownDatasetError

SPECS: Mapping[str, Spec] = MappingProxyType(
    {spec.name: spec for spec in (_adult.SPEC, _compas.SPEC, _german.SPEC, _default_credit.SPEC)}
)


def available() -> tuple[DatasetInfo, ...]:
    """What can be loaded, without reading or downloading anything."""
    return tuple(
        DatasetInfo(
            name=spec.name,
            title=spec.title,
            variants=tuple(spec.variants),
            n_rows=spec.n_rows,
            n_attributes=spec.n_attributes,
            embedded=spec.name in _store.EMBEDDED,
            local=_store.path_of(spec.name).is_file(),
            license=spec.license,
            citation=spec.citation,
            source=spec.source,
        )
        for spec in SPECS.values()
    )


def fetch(name: str) -> Path:
    """Make sure the dataset can be loaded offline from now on.

    Parameters
    ----------
    name : str

    Returns
    -------
    Path
        The local file: inside the package if embedded, else in the cache.

    Raises
    ------
    DatasetUnavailableError
        If it is not in the cache and cannot be downloaded.
    """
    _spec(name)
    _store.content_of(name)
    return _store.path_of(name)


def load(name: str, variant: str = "raw") -> Dataset:
    """Load a table, fetching it first if need be.

    Parameters
    ----------
    name : str
        ``"adult"``, ``"compas"``, ``"german"`` or ``"default_credit"``.
    variant : str
        ``"raw"`` or ``"binary"``; also ``"corels"`` for adult and compas, and ``"numerical"``
        for default_credit.

    Raises
    ------
    UnknownDatasetError
        If there is no such dataset or variant.
    DatasetUnavailableError
        If it is not in the cache and cannot be downloaded.

    Examples
    --------
    >>> from glassleak import datasets
    >>> adult = datasets.load("adult", variant="binary")
    >>> adult.data.shape, adult.schema.n_profiles
    ((48842, 19), 4608)
    """
    spec = _spec(name)
    if variant not in spec.variants:
        known = ", ".join(map(repr, spec.variants))
        raise UnknownDatasetError(f"{name!r} has no variant {variant!r}; it has {known}")
    recipe = spec.variants[variant]
    frame = recipe.build(spec.parse(_store.content_of(name)))
    return Dataset(
        name=name,
        variant=variant,
        data=frame.drop(columns=recipe.target),
        target=frame[recipe.target],
        schema=recipe.schema(),
        license=spec.license,
        citation=spec.citation,
        source=spec.source,
        notes=spec.notes + recipe.notes,
    )


def _spec(name: str) -> Spec:
    if name not in SPECS:
        raise UnknownDatasetError(f"no dataset {name!r}; there are {', '.join(map(repr, SPECS))}")
    return SPECS[name]
