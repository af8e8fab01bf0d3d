"""Open whatever holds a model: an estimator, a file of any supported kind, or its JSON form."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from glassleak.errors import (
    MalformedModelError,
    ModelError,
    ModelTooLargeError,
    UnsupportedModelError,
    UntrustedFileError,
)
from glassleak.models import Forest, Model, MultiwayTree, RuleList, Tree
from glassleak.readers._documents import as_text, beside_the_trees, read_document
from glassleak.readers._interpret import Interpretation, interpret
from glassleak.readers._limits import DEFAULT_LIMITS, Limits
from glassleak.readers._live import state_of
from glassleak.readers.artefacts import Artefact, scan
from glassleak.readers.files._json_text import parse_json
from glassleak.readers.files._skops import decode_skops
from glassleak.readers.files._sniff import FileKind, sniff
from glassleak.readers.sandbox._sandbox import read_in_sandbox

Trust = Literal["none", "sandbox"]
_Problem = TypeVar("_Problem", bound=ModelError)


@dataclass(frozen=True)
class Opened:
    """A model and everything known about where it came from.

    Attributes
    ----------
    model : Model or None
        ``None`` when the kind of model is not supported; `problem` says why.
    problem : UnsupportedModelError or None
    artefacts : tuple of Artefact
        What the object retains about training rows.
    scanned : bool
        Whether there was an object to scan; the JSON form carries counts and nothing else.
    container : str
        ``"skops"``, ``"pickle"``, ``"JSON"``, ``"text"``, ``"estimator"``, ``"glassleak model"``.
    name : str
        File name, or the estimator's class.
    sha256, n_bytes
        Of the file; ``None`` for live objects.
    protection : tuple of str
        What the sandbox had in force; empty when none was needed.
    """

    model: Model | None
    problem: UnsupportedModelError | None
    artefacts: tuple[Artefact, ...]
    scanned: bool
    container: str
    name: str
    sha256: str | None = None
    n_bytes: int | None = None
    protection: tuple[str, ...] = ()


def read(source: Any, trust: Trust = "none", limits: Limits = DEFAULT_LIMITS) -> Model:
    """Read a model into glassleak's own frozen form.

    Parameters
    ----------
    source : fitted estimator, path, JSON text, mapping, Tree, Forest or RuleList
        Files are recognised by their content: ``.skops``, glassleak JSON, LightGBM text or JSON,
        XGBoost JSON, CORELS-style rule lists; pickle and joblib with ``trust="sandbox"``.
    trust : "none" or "sandbox"
        ``"none"`` opens only files that cannot carry code.  ``"sandbox"`` also decodes pickle and
        joblib, symbolically and in a locked-down process; no code from the file is run.
    limits : Limits
        Bounds on size and time.

    Returns
    -------
    Tree, Forest, RuleList or MultiwayTree

    Raises
    ------
    UnsupportedModelError
        The model is of a kind glassleak does not read.
    MalformedModelError
        The file is damaged, inconsistent or hostile; the message says where.
    UntrustedFileError
        The file is a pickle and no sandbox was asked for.
    """
    opened = open_model(source, trust, limits)
    if opened.model is None:
        raise opened.problem or UnsupportedModelError("no model found", opened.name)
    return opened.model


def open_model(source: Any, trust: Trust = "none", limits: Limits = DEFAULT_LIMITS) -> Opened:
    """Like `read`, but keeps what the audit needs: artefacts, hash, and why reading failed."""
    if trust not in ("none", "sandbox"):
        raise ValueError(f'trust must be "none" or "sandbox", got {trust!r}')
    if isinstance(source, Tree | Forest | RuleList | MultiwayTree):
        return Opened(source, None, (), False, "glassleak model", type(source).__name__)
    if isinstance(source, Mapping):
        return _open_document(source, "mapping", limits)
    if isinstance(source, str) and source.lstrip()[:1] == "{":
        return _open_document(parse_json(source, limits, "text"), "text", limits)
    if isinstance(source, str | Path):
        return _open_file(Path(source), trust, limits)
    found = interpret(state_of(source), limits)
    return Opened(
        found.model, found.problem, found.artefacts, True, "estimator", type(source).__name__
    )


def _open_document(document: Any, name: str, limits: Limits) -> Opened:
    model, problem = _document_or_problem(document, limits)
    return Opened(model, problem, (), False, "JSON", name)


def _document_or_problem(
    document: Any, limits: Limits
) -> tuple[Model | None, UnsupportedModelError | None]:
    try:
        return read_document(document, limits), None
    except UnsupportedModelError as error:
        return None, error


def _open_file(path: Path, trust: Trust, limits: Limits) -> Opened:
    try:
        present, readable = path.exists(), path.is_file()
    except OSError:  # a text too long to be a path, taken for one
        present, readable = False, False
    if not readable:
        raise MalformedModelError("not a file" if present else "no such file", str(path)[:200])
    size = path.stat().st_size
    if size == 0:
        raise MalformedModelError("the file is empty", path.name)
    if size > limits.file_bytes:
        raise ModelTooLargeError(f"{size:,} bytes, over {limits.file_bytes:,}", path.name)
    kind = sniff(path)
    try:
        found, scanned, protection = _read_file(path, kind, trust, limits)
    except ModelError as error:
        raise _naming(path, error) from error.__cause__
    problem = None if found.problem is None else _naming(path, found.problem)
    return Opened(
        found.model, problem, found.artefacts, scanned, kind.label, path.name,
        _sha256(path), size, protection,
    )  # fmt: skip


def _naming(path: Path, error: _Problem) -> _Problem:
    """The same error, with the file as the beginning of its place unless it is there already."""
    place, name = error.place, path.name
    if place is not None and (place + ":").startswith((f"{name}:", f"{name}/", f"{name},")):
        return error
    named = type(error)(error.message, name if place is None else f"{name}: {place}")
    for note in getattr(error, "__notes__", ()):
        named.add_note(note)
    return named.with_traceback(error.__traceback__)


def _read_file(
    path: Path, kind: FileKind, trust: Trust, limits: Limits
) -> tuple[Interpretation, bool, tuple[str, ...]]:
    if kind is FileKind.SKOPS:
        try:
            return interpret(decode_skops(path, limits), limits), True, ()
        except UnsupportedModelError as error:  # an archive, but of something else
            return Interpretation(None, error, ()), False, ()
    if kind is FileKind.PICKLE:
        if trust != "sandbox":
            raise UntrustedFileError(
                "pickle and joblib files run code when they are loaded; ask for "
                'trust="sandbox" (--trust sandbox) to have it decoded without running any, or '
                "save the model with skops",
                path.name,
            )
        answer = read_in_sandbox(path, limits)
        found = Interpretation(answer.model, answer.problem, answer.artefacts)
        return found, True, answer.protection
    if kind is FileKind.UNKNOWN:
        unknown = UnsupportedModelError("not a kind of file glassleak reads", path.name)
        return Interpretation(None, unknown, ()), False, ()
    if path.stat().st_size > limits.json_bytes:
        raise ModelTooLargeError(f"over {limits.json_bytes:,} bytes of text", path.name)
    raw = path.read_bytes()
    document = parse_json(raw, limits, path.name) if kind is FileKind.JSON else as_text(raw)
    model, problem = _document_or_problem(document, limits)
    # What glassleak does not recognise as a model it cannot have looked through either.
    known = model is not None or isinstance(document, Mapping)
    kept = scan(beside_the_trees(document), model) if known else ()
    return Interpretation(model, problem, kept), known, ()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
