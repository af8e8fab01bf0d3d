"""What the tests of single questions share."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest

Ask = Callable[..., None]


@pytest.fixture
def ask_only(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Leave the other questions out: they take seconds and the test does not look at them."""
    module = importlib.import_module("glassleak.audit._audit")
    everything = module.ANALYSES

    def only(*ids: str) -> None:
        asked = tuple(a for a in everything if a.id in ids)
        assert {a.id for a in asked} == set(ids)
        monkeypatch.setattr(module, "ANALYSES", asked)

    return only
