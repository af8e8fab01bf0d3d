"""Which files of a folder are audited."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from glassleak.errors import AuditError

# Endings of the files models are kept in; what is in them is found by looking.
ENDINGS = (".skops", ".json", ".txt", ".pkl", ".pickle", ".joblib", ".model")
MOST_FILES = 10_000
DEEPEST = 20


@dataclass(frozen=True)
class Found:
    """The files of a folder.

    Attributes
    ----------
    folder : Path
    models : tuple of str
        Paths below the folder, with forward slashes, in order.
    others : int
        Files with other endings, which are not looked at.
    """

    folder: Path
    models: tuple[str, ...]
    others: int


def find_models(folder: str | Path, without: Path | None = None) -> Found:
    """Model files below `folder`; hidden ones, links and everything below `without` are left out.

    Raises
    ------
    AuditError
        No such folder, or more files than a mistake would have.
    """
    root = Path(folder)
    if not root.is_dir():
        raise AuditError(f"no folder at {str(root)[:200]!r}")
    models, others = [], 0
    for path in _files(root, None if without is None else without.resolve()):
        if path.suffix.lower() in ENDINGS:
            models.append(path.relative_to(root).as_posix())
        else:
            others += 1
        if len(models) + others > MOST_FILES:
            raise AuditError(f"more than {MOST_FILES:,} files below {root.name!r}; audit its parts")
    return Found(root, tuple(sorted(models)), others)


def _files(root: Path, without: Path | None) -> Iterator[Path]:
    for here, folders, names in os.walk(root, followlinks=False):
        place = Path(here)
        deep = len(place.relative_to(root).parts) >= DEEPEST
        folders[:] = [
            name
            for name in folders
            if not deep and not name.startswith(".") and (place / name).resolve() != without
        ]
        for name in names:
            path = place / name
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path
