"""Which library wrote this JSON or text, and hence which reader takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glassleak.errors import MalformedModelError, UnsupportedModelError
from glassleak.models import Model, model_from_document
from glassleak.readers._limits import Limits
from glassleak.readers.libraries._corels import (
    looks_like_corels_json,
    looks_like_corels_text,
    read_corels_json,
    read_corels_text,
)
from glassleak.readers.libraries._lightgbm import read_lightgbm_json, read_lightgbm_text
from glassleak.readers.libraries._typed import check_width
from glassleak.readers.libraries._xgboost import read_xgboost_json

# Parts of the documents that only describe trees; the artefact scan looks at the rest.
_TREE_PARTS = ("tree_info", "trees", "learner")


def read_document(document: Any, limits: Limits) -> Model:
    """The model in a parsed JSON document or a text."""
    if isinstance(document, str):
        return _read_text(document, limits)
    if looks_like_corels_json(document):
        return read_corels_json(document, limits)
    if isinstance(document, Mapping):
        if document.get("format") == "glassleak-model":
            check_width(_size(document, "trees"), _size(document, "columns"), limits)
            model = model_from_document(document)
            trees = getattr(model, "trees", (model,))
            limits.check_nodes(sum(getattr(tree, "n_nodes", 0) for tree in trees))
            return model
        if "tree_info" in document:
            return read_lightgbm_json(document, limits)
        if "learner" in document:
            return read_xgboost_json(document, limits)
    raise UnsupportedModelError("the JSON document describes no model glassleak knows")


def _size(document: Mapping[Any, Any], name: str) -> int:
    part = document.get(name)
    return len(part) if isinstance(part, list) else 0


def _read_text(text: str, limits: Limits) -> Model:
    if text.startswith(("tree\n", "tree\r\n")):
        return read_lightgbm_text(text, limits)
    if looks_like_corels_text(text[:4096]):
        return read_corels_text(text, limits)
    raise UnsupportedModelError("the text describes no model glassleak knows")


def as_text(raw: bytes) -> str:
    """`raw` as text, with a typed error."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedModelError(f"not text: {error}") from None


def beside_the_trees(document: Any) -> Any:
    """What the artefact scan looks at: everything but the trees themselves."""
    if isinstance(document, Mapping):
        return {key: value for key, value in document.items() if key not in _TREE_PARTS}
    return document
