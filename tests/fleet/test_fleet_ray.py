"""On a real local Ray instance, where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_fleet import filled

from glassleak.fleet import audit_folder

pytest.importorskip("ray")


@pytest.mark.slow
def test_every_model_has_a_result(tmp_path: Path) -> None:
    fleet = audit_folder(
        filled(tmp_path / "in", 6), tmp_path / "out", budget_seconds=5, backend="ray", jobs=2
    )
    assert fleet.totals == {"fix": 2, "refer": 0, "error": 1, "not assessed": 0, "release": 4}
