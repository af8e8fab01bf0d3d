"""Audit a folder: every model on its own, on as many workers as there are."""

from __future__ import annotations

import contextlib
import csv
import importlib.resources
import io
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from glassleak._files import write_text
from glassleak._version import __version__
from glassleak.audit import Policy
from glassleak.errors import AuditError
from glassleak.fleet._backends import backend_in_force
from glassleak.fleet._find import Found, find_models
from glassleak.fleet._one import MOST_ATTEMPTS, Entry, Settings, State, audit_one
from glassleak.pages import fleet_page

Progress = Callable[[Entry, int, int], None]
FORMAT, VERSION = "glassleak-fleet", 1
# From the gravest; an error is no verdict, and comes after what is known to be wrong.
ORDER = ("fix", "refer", "error", "not assessed", "release")
_COLUMNS = ("file", "verdict", "error", "reasons", "estimator", "rows", "trees", "fix", "refer",
            "notes", "unanswered", "seconds", "sha256", "report", "page")  # fmt: skip


@dataclass(frozen=True)
class Fleet:
    """The outcome for a folder.

    Attributes
    ----------
    found : Found
        Which files there were.
    entries : tuple of Entry
        One per model file, in their order.
    policy : Policy
    settings : Settings
    seconds : float
    """

    found: Found
    entries: tuple[Entry, ...]
    policy: Policy
    settings: Settings
    seconds: float

    @property
    def totals(self) -> dict[str, int]:
        """Models by verdict, and those without one as ``"error"``; the gravest first."""
        counted = Counter(outcome(entry) for entry in self.entries)
        return {name: counted.get(name, 0) for name in ORDER}

    @property
    def worst(self) -> str:
        """The gravest outcome of all; ``"release"`` if there was nothing to audit."""
        return next((name for name, number in self.totals.items() if number), "release")

    def to_document(self) -> dict[str, Any]:
        """The summary as JSON-ready data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "tool": {"name": "glassleak", "version": __version__},
            "folder": self.found.folder.name or str(self.found.folder),
            "policy": self.policy.to_document(),
            "settings": {
                "budget_seconds": self.settings.budget_seconds,
                "seed": self.settings.seed,
                "trust": self.settings.trust,
                "schema": "given" if self.settings.schema is not None else "not given",
                "policy": self.policy.name,
            },
            "worst": self.worst,
            "totals": self.totals,
            "models": [entry.to_document() for entry in self.entries],
            "not_looked_at": self.found.others,
            "seconds": round(self.seconds, 3),
        }

    def to_csv(self) -> str:
        """One line per model, for spreadsheets."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for entry in self.entries:
            document = entry.to_document() | {"reasons": "; ".join(entry.reasons)}
            writer.writerow([_cell(document[name]) for name in _COLUMNS])
        # A file's name may hold bytes that are no text.
        return stream.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")

    def write(self) -> None:
        """``summary.json``, ``summary.csv`` and, if there are pages, ``summary.html``."""
        out = Path(self.settings.out)
        document = self.to_document()
        write_text(out / "summary.json", json.dumps(document, indent=2) + "\n")
        write_text(out / "summary.csv", self.to_csv())
        if self.settings.html:
            write_text(out / "summary.html", fleet_page(document))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of summaries."""
    file = importlib.resources.files("glassleak.fleet") / "fleet.schema.json"
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema


def outcome(entry: Entry) -> str:
    """The verdict, or ``"error"``."""
    return entry.verdict or "error"


def _cell(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula is marked as text."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value


def audit_folder(
    folder: str | Path,
    out: str | Path,
    *,
    schema: str | Path | None = None,
    policy: Policy | str | Path | None = None,
    budget_seconds: float = 60,
    trust: str = "none",
    seed: int = 0,
    html: bool = False,
    redact: bool = False,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Fleet:
    """Audit every model file below `folder`.

    Parameters
    ----------
    folder : path
        Looked through with everything below it (see `find_models`).
    out : path
        Where results go: a JSON record per model, written as it finishes, ``summary.json`` and
        ``summary.csv``.  Models that were audited before with the same settings, and have not
        changed, are not audited again.
    schema, policy, budget_seconds, trust, seed
        As for `glassleak.audit`, the same for all; the budget is for each model.
    html, redact : bool
        Also write a page per model and ``summary.html``; without the values of reconstructed rows.
    jobs : int
        Models at a time.
    backend : "loky", "threading", "sequential", "dask" or "ray"
        Where they run.  On a cluster of several machines `folder` and `out` must be on storage
        that all of them share.
    scheduler : str, optional
        Address of a running Dask scheduler or Ray head.
    progress : callable, optional
        ``progress(entry, done, total)`` as each model finishes.

    Returns
    -------
    Fleet

    Raises
    ------
    AuditError, MissingExtraError
        For wrong use.  What is wrong with a model is in its entry.
    """
    started = time.monotonic()
    if not isinstance(policy, Policy):
        policy = Policy() if policy is None else Policy.from_toml(policy)
    if not budget_seconds > 0:
        raise AuditError(f"budget_seconds must be positive, got {budget_seconds!r}")
    target = Path(out)
    found = find_models(folder, without=target)
    target.mkdir(parents=True, exist_ok=True)
    settings = Settings(
        str(found.folder.resolve()), str(target.resolve()), policy,
        None if schema is None else str(Path(schema).resolve()), budget_seconds, trust, seed,
        html, redact,
    )  # fmt: skip
    for file in found.models:
        State(file, settings).forget_failures()
    entries = _audit_all(found.models, settings, jobs, backend, scheduler, progress)
    made = tuple(entries[file] for file in found.models)
    fleet = Fleet(found, made, policy, settings, time.monotonic() - started)
    fleet.write()
    return fleet


def _audit_all(
    files: Iterable[str],
    settings: Settings,
    jobs: int,
    backend: str,
    scheduler: str | None,
    progress: Progress | None,
) -> dict[str, Entry]:
    """Go on until every model has an entry, even if workers die."""
    import joblib

    todo = list(files)
    total, entries = len(todo), dict[str, Entry]()

    def done(entry: Entry) -> None:
        entries[entry.file] = entry
        if progress is not None:
            progress(entry, len(entries), total)

    # Each round loses at most the models that were being audited when a worker died, and these
    # are tried MOST_ATTEMPTS times: a round without any new entry cannot happen for ever.
    rounds = 0
    while todo:
        try:
            with backend_in_force(backend, jobs, scheduler) as options, _no_alarm():
                parallel = joblib.Parallel(batch_size=1, pre_dispatch="2*n_jobs", **options)
                for entry in parallel(joblib.delayed(audit_one)(f, settings) for f in todo):
                    done(entry)
        except Exception as error:
            if not _is_death(error) or rounds > MOST_ATTEMPTS * total:
                raise
        rounds += 1
        left = [file for file in todo if file not in entries]
        for file in left:  # finished, but the answer was lost on the way
            entry = State(file, settings).read()
            if entry is not None:
                done(entry)
        todo = [file for file in left if file not in entries]
    return entries


@contextlib.contextmanager
def _no_alarm() -> Iterator[None]:
    """Without the remark that a worker was replaced, which large models bring about."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A worker stopped", category=UserWarning)
        yield


def _is_death(error: Exception) -> bool:
    """Whether a worker died, as opposed to something being wrong with the request."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(
        names & {"BrokenProcessPool", "TerminatedWorkerError", "KilledWorker", "WorkerCrashedError"}
    )
