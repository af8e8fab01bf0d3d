"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path


def write_text(path: str | Path, text: str) -> None:
    """Replace the file at `path` by `text`; on failure the old file, if any, is left as it was."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """Like `write_text`."""
    target = Path(path)
    if not target.parent.is_dir():
        # Said about the file that was asked for, and not about a temporary one beside it.
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        # mkstemp makes the file private; a report is as readable as the user's umask says.
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
