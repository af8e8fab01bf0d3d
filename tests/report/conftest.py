"""Records of real audits, made once; that this file is here also makes `records` importable."""

from __future__ import annotations

from typing import Any

import pytest
from records import real_audits

Document = dict[str, Any]


@pytest.fixture(scope="session")
def real() -> dict[str, Document]:
    return real_audits()
