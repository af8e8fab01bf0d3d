"""A cache of the test session's own, and what to skip when a machine lacks something."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from glassleak import datasets
from glassleak.datasets import Dataset
from glassleak.errors import DatasetUnavailableError


@pytest.fixture(scope="session", autouse=True)
def session_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leave the user's cache alone, unless GLASSLEAK_CACHE says which one to use."""
    with pytest.MonkeyPatch.context() as patch:
        if not os.environ.get("GLASSLEAK_CACHE"):
            patch.setenv("GLASSLEAK_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def skip_if_offline() -> Callable[[DatasetUnavailableError], None]:
    """Skip for want of a network; what was fetched but is not what was pinned is a failure."""

    def skip(error: DatasetUnavailableError) -> None:
        if "pinned" in str(error) or "HASHES" in str(error):
            raise error
        pytest.skip(f"offline? {error}")

    return skip


@pytest.fixture(scope="session")
def load_or_skip(
    session_cache: None, skip_if_offline: Callable[[DatasetUnavailableError], None]
) -> Callable[[str, str], Dataset]:
    """`datasets.load`, but a table that cannot be fetched skips the test."""
    failures: dict[str, DatasetUnavailableError] = {}

    def load(name: str, variant: str) -> Dataset:
        # Trying once is enough: without a network, pip takes its time to give up.
        if name in failures:
            skip_if_offline(failures[name])
        try:
            return datasets.load(name, variant)
        except DatasetUnavailableError as error:
            failures[name] = error
            skip_if_offline(error)
            raise

    return load


@pytest.fixture(scope="session")
def reference_folder() -> Path:
    """The folder with the published encodings, which the repository does not hold."""
    root = os.environ.get("GLASSLEAK_REFERENCE")
    if not root:
        pytest.skip("GLASSLEAK_REFERENCE is not set: no published tables to compare with")
    return Path(root) / "data"
