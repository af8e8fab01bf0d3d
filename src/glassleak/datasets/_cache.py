"""Where fetched tables live, and how they get there without ever being half written."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from pathlib import Path


def cache_dir() -> Path:
    """The folder for fetched tables (it need not exist yet).

    ``GLASSLEAK_CACHE`` wins; otherwise the platform's habit: ``LOCALAPPDATA`` on Windows,
    ``~/Library/Caches`` on macOS, ``XDG_CACHE_HOME`` or ``~/.cache`` elsewhere.
    """
    chosen = os.environ.get("GLASSLEAK_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "glassleak" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "glassleak"
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says that a relative path is to be ignored.
    return (Path(xdg) if Path(xdg).is_absolute() else Path.home() / ".cache") / "glassleak"


def sha256(content: bytes) -> str:
    """Hex digest of `content`."""
    return hashlib.sha256(content).hexdigest()


def read_verified(path: Path, digest: str) -> bytes | None:
    """The file's content if it is there and has this SHA-256, else ``None``.

    The bytes that were hashed are the bytes returned: the file is read once, so nothing can
    change it between the check and the use.
    """
    try:
        content = path.read_bytes()
    except OSError:
        return None
    return content if sha256(content) == digest else None


def write_atomic(path: Path, content: bytes) -> None:
    """Write `content` to `path` so that other processes see all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Same folder, because renaming is atomic only within one file system; not mkstemp, whose
    # files nobody else may read, because a cache folder can be shared.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
