"""Where audits of many models run: in this process, in others, or on a cluster."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any, Literal, get_args

from glassleak.errors import AuditError, MissingExtraError

Backend = Literal["loky", "threading", "sequential", "dask", "ray"]
BACKENDS: tuple[str, ...] = get_args(Backend)
_LOCAL = ("loky", "threading", "sequential")
_CONNECT_SECONDS = 10.0


@contextlib.contextmanager
def backend_in_force(
    name: str, jobs: int, scheduler: str | None = None
) -> Iterator[dict[str, Any]]:
    """Options for `joblib.Parallel` while the backend is up.

    Parameters
    ----------
    name : one of BACKENDS
    jobs : int
        Models at a time; on a cluster its workers decide.
    scheduler : str, optional
        Address of a running Dask scheduler or Ray head; without it a cluster of `jobs` local
        processes is started, and stopped again.

    Raises
    ------
    AuditError, MissingExtraError
    """
    if name not in BACKENDS:
        raise AuditError(f"no backend {name!r}; there are {', '.join(BACKENDS)}")
    if jobs < 1:
        raise AuditError(f"jobs must be at least 1, got {jobs}")
    if scheduler is not None and name in _LOCAL:
        raise AuditError(f"backend {name!r} has no scheduler; use dask or ray")
    if name == "dask":
        with _dask(jobs, scheduler) as options:
            yield options
    elif name == "ray":
        with _ray(jobs, scheduler) as options:
            yield options
    else:
        yield {"n_jobs": jobs, "backend": name, "return_as": "generator_unordered"}


def _extra(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(
            f"backend {extra!r} is not installed: pip install 'glassleak[{extra}]'"
        ) from None


@contextlib.contextmanager
def _dask(jobs: int, scheduler: str | None) -> Iterator[dict[str, Any]]:
    import joblib

    distributed = _extra("distributed", "dask")
    if scheduler is None:
        client = distributed.Client(
            n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None
        )
    else:
        try:
            client = distributed.Client(scheduler, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise AuditError(f"no Dask scheduler at {scheduler[:200]!r}: {error}") from None
    with client, joblib.parallel_config(backend="dask", n_jobs=-1):
        yield {"return_as": "generator_unordered"}


@contextlib.contextmanager
def _ray(jobs: int, scheduler: str | None) -> Iterator[dict[str, Any]]:
    import joblib

    ray = _extra("ray", "ray")
    register = _extra("ray.util.joblib", "ray").register_ray
    already = ray.is_initialized()
    if not already:
        try:
            ray.init(address=scheduler, **({} if scheduler else {"num_cpus": jobs}))
        except (ConnectionError, ValueError) as error:
            raise AuditError(f"no Ray cluster at {str(scheduler)[:200]!r}: {error}") from None
    register()
    try:
        with joblib.parallel_config(backend="ray", n_jobs=jobs):
            # Ray hands results over all at once; every audit writes its own as it finishes.
            yield {"return_as": "list"}
    finally:
        if not already:
            ray.shutdown()
