"""Finished runs, one JSON line each: an interrupted experiment continues where it stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from glassleak.errors import GlassleakError

Record: TypeAlias = dict[str, Any]


class RunLogError(GlassleakError):
    """The log of finished runs is damaged."""


class RunLog:
    """A file of records, looked up by some of their fields.

    Parameters
    ----------
    path : Path
        Created with the first record.
    key_fields : sequence of str
        What tells runs apart; a later record replaces an earlier one of the same key.
    """

    def __init__(self, path: Path, key_fields: Sequence[str]) -> None:
        self.path = path
        self.key_fields = tuple(key_fields)
        self._records: dict[tuple[Any, ...], Record] = {}
        if path.exists():
            self._load()

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: Mapping[str, Any]) -> Record | None:
        """The record of the run with these fields."""
        return self._records.get(self._key(key))

    def add(self, record: Record) -> None:
        """Write the record down before anything else happens."""
        self._records[self._key(record)] = record
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def _key(self, fields: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(fields[name] for name in self.key_fields)

    def _load(self) -> None:
        content = self.path.read_bytes()
        # A run that was killed while writing leaves half a line; what follows must not join it.
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self.path.write_bytes(whole)
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                record = json.loads(line)
                self._records[self._key(record)] = record
            except (ValueError, KeyError, TypeError):
                raise RunLogError(
                    f"{self.path.name}, line {number}: not a finished run; "
                    "delete the line, or start again with --fresh"
                ) from None
