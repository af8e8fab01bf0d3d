"""On a real Dask cluster of two processes, of which one is killed half-way."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from test_fleet import filled

from glassleak.errors import AuditError
from glassleak.fleet import audit_folder

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster() -> Any:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as running:
        yield running


def test_nothing_is_lost_when_a_worker_is_killed(cluster: Any, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_one(_entry: Any, done: int, _total: int) -> None:
        if done >= 2 and not killed:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    fleet = audit_folder(
        filled(tmp_path / "in", 12), tmp_path / "out", budget_seconds=5, backend="dask",
        scheduler=cluster.scheduler_address, progress=kill_one,
    )  # fmt: skip
    assert killed
    assert [e.file for e in fleet.entries if e.error] == ["damaged.skops"]
    assert sum(e.verdict is not None for e in fleet.entries) == 12
    assert all((tmp_path / "out" / e.report).is_file() for e in fleet.entries if e.report)


def test_no_scheduler_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassleak.fleet._backends._CONNECT_SECONDS", 0.5)
    with pytest.raises(AuditError, match="no Dask scheduler at"):
        audit_folder(filled(tmp_path / "in", 1), tmp_path / "out", backend="dask",
                     scheduler="tcp://127.0.0.1:1")  # fmt: skip
