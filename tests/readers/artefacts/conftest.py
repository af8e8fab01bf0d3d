"""Small real tables, and how the tests look at a scan."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from glassleak.readers._limits import Limits
from glassleak.readers._live import state_of
from glassleak.readers.artefacts import Artefact, scan
from glassleak.readers.pickles._pickle import decode_pickle


@dataclass(frozen=True)
class Data:
    """137 rows: a length that no number of columns, classes, nodes or trees equals by chance."""

    X: np.ndarray
    y: np.ndarray

    @property
    def n(self) -> int:
        return len(self.y)


@pytest.fixture(scope="session")
def data() -> Data:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(137, 5))
    return Data(X, (X[:, 0] + rng.normal(size=137) > 0.4).astype(int))


@dataclass(frozen=True)
class Found:
    """A scan's findings by kind."""

    all: tuple[Artefact, ...]

    @property
    def kinds(self) -> list[str]:
        return [a.kind for a in self.all]

    def one(self, kind: str) -> Artefact:
        matching = [a for a in self.all if a.kind == kind]
        assert len(matching) == 1, f"{kind}: {[(a.kind, a.where) for a in self.all]}"
        return matching[0]

    def at(self, where: str) -> Artefact:
        matching = [a for a in self.all if a.where == where]
        assert len(matching) == 1, f"{where}: {[(a.kind, a.where) for a in self.all]}"
        return matching[0]


def _through_pickle(obj: Any) -> Any:
    return decode_pickle(io.BytesIO(pickle.dumps(obj)), Limits())


@pytest.fixture(scope="session")
def scanned() -> Callable[..., Found]:
    """Scan a live object; `pickled` sends it through a pickle first, decoded without loading."""

    def run(obj: Any, model: Any = None, *, pickled: bool = False) -> Found:
        return Found(scan(_through_pickle(obj) if pickled else state_of(obj), model))

    return run
