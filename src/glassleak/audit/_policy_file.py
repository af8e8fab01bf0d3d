"""Policy files: TOML with a value, a reason and a source for every threshold."""

from __future__ import annotations

import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from glassleak._files import write_text
from glassleak.errors import AuditError

FORMAT, VERSION = "glassleak-policy", 1
SHIPPED = ("default", "sacro")
_HEAD = ("format", "version", "name", "extends")
_ENTRY = ("value", "reason", "source", "origin", "default")
_MOST_BYTES = 1_000_000
_MOST_TEXT = 2_000
_LONGEST_CHAIN = 5


@dataclass(frozen=True)
class Rationale:
    """Why a setting has its value.

    Attributes
    ----------
    reason, source : str
        In words; where that comes from.
    origin : str
        Who set it: ``"default"``, the name of another policy, or ``"given by the user"``.
    """

    reason: str
    source: str
    origin: str


@dataclass(frozen=True)
class Settings:
    """A policy file as read: nothing is checked yet but names and kinds of entries."""

    name: str
    values: dict[str, Any]
    rationale: dict[str, Rationale]


def shipped_policy(name: str) -> Settings:
    """A policy that comes with the package."""
    file = importlib.resources.files("glassleak.audit") / "policies" / f"{name}.toml"
    return _settings(tomllib.loads(file.read_text(encoding="utf-8")), name, Path(), _LONGEST_CHAIN)


def read_policy(source: str | Path) -> Settings:
    """A shipped policy by name, or a file."""
    if str(source) in SHIPPED:
        return shipped_policy(str(source))
    return _read_file(Path(source), _LONGEST_CHAIN)


def _read_file(path: Path, chain: int) -> Settings:
    try:
        if not path.is_file():
            raise AuditError(f"no policy file at {str(path)[:200]!r} (shipped: {_shipped()})")
        if path.stat().st_size > _MOST_BYTES:
            raise AuditError(f"{path.name}: over {_MOST_BYTES:,} bytes is no policy")
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise AuditError(f"{path.name} is not a readable policy file: {error}") from None
    return _settings(document, path.name, path.parent, chain)


def _shipped() -> str:
    return ", ".join(SHIPPED)


def _settings(document: Mapping[str, Any], place: str, folder: Path, chain: int) -> Settings:
    if document.get("format", FORMAT) != FORMAT or document.get("version", VERSION) != VERSION:
        raise AuditError(f"{place}: not a {FORMAT} file of version {VERSION}")
    name = document.get("name", place)
    if not isinstance(name, str) or not 0 < len(name) <= 200:
        raise AuditError(f"{place}: name must be a short text")
    base = _base(document, place, folder, chain)
    known = base.values if base is not None else None
    if known is None and place != "default":
        known = shipped_policy("default").values
    values = dict(base.values) if base is not None else {}
    rationale = dict(base.rationale) if base is not None else {}
    for key, raw in document.items():
        if key in _HEAD:
            continue
        if known is not None and key not in known:
            raise AuditError(f"{place}: no policy has a setting {key[:100]!r}")
        entry = raw if isinstance(raw, dict) else {"value": raw}
        values[key], rationale[key] = _entry(entry, f"{place}: {key}", name, rationale.get(key))
    missing = [key for key in known or () if key not in values]
    if missing:
        raise AuditError(
            f'{place}: {missing[0]} is missing; write extends = "default" to take what is not '
            "listed from the default policy"
        )
    return Settings(name, values, rationale)


def _base(document: Mapping[str, Any], place: str, folder: Path, chain: int) -> Settings | None:
    extends = document.get("extends")
    if extends is None:
        return None
    if not isinstance(extends, str):
        raise AuditError(f"{place}: extends must be the name of a policy or a file")
    if chain == 0:
        raise AuditError(f"{place}: more than {_LONGEST_CHAIN} policies extend each other")
    if extends in SHIPPED:
        return shipped_policy(extends)
    return _read_file(folder / extends, chain - 1)


def _entry(
    entry: Mapping[str, Any], place: str, origin: str, before: Rationale | None
) -> tuple[Any, Rationale]:
    unknown = [key for key in entry if key not in _ENTRY]
    if unknown:
        raise AuditError(f"{place}: unknown entry {unknown[0][:100]!r}; expected value, reason, "
                         "source")  # fmt: skip
    if "value" not in entry:
        raise AuditError(f"{place}: no value")
    texts = {"reason": before.reason if before is not None else "", "source": ""}
    if before is not None:
        # The general reason still says what the setting is about, but not where this value is from.
        texts["source"] = f"set by policy {origin!r}"
    for key in texts:
        given = entry.get(key, texts[key])
        if not isinstance(given, str) or len(given) > _MOST_TEXT:
            raise AuditError(f"{place}: {key} must be a text of at most {_MOST_TEXT:,} characters")
        texts[key] = given
    return entry["value"], Rationale(texts["reason"], texts["source"], origin)


def write_policy(name: str, lines: list[dict[str, Any]], path: str | Path | None) -> str:
    """TOML text of a policy; every setting is listed."""
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "name": name}
    for line in lines:
        document[line["name"]] = {key: line[key] for key in ("value", "reason", "source")}
    text = tomli_w.dumps(document)
    if path is not None:
        write_text(path, text)
    return text
