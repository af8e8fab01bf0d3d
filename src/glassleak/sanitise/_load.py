"""A scikit-learn model from a .skops file of a stranger, built without running code it carries.

To predict with a model it has to be built, which reading does not need.  So the file is read first,
as data: every tree in it is checked (a child that does not exist makes scikit-learn read outside
its memory), and every class it names must be one that glassleak knows to be a plain model.  Only
then, and from the same bytes, does skops build it, with exactly these classes allowed.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from glassleak.errors import (
    MalformedModelError,
    MissingExtraError,
    ModelError,
    UnsupportedModelError,
    UntrustedFileError,
)
from glassleak.models import Forest, Missing, Model, MultiwayTree, Tree
from glassleak.readers import Limits, open_model
from glassleak.readers._state import State, walk
from glassleak.readers.files._skops import decode_skops
from glassleak.sanitise._probe import last_step

_TREE = ("sklearn.tree._tree", "Tree")
_OTHER_TREES = "TreePredictor"
_METHODS = ("predict", "predict_proba")
# Beyond the classes skops trusts by itself: what fitted trees and glassleak's learners are made of.
_KNOWN = frozenset(
    {
        "sklearn.tree._tree.Tree",
        "numpy.dtype",
        "glassleak.learners._greedy.GreedyRuleListClassifier",
        "glassleak.learners._id3.ID3Classifier",
        "glassleak.learners._optimal.OptimalRuleListClassifier",
        "glassleak.learners._trees.OptimalTreeClassifier",
        "glassleak.learners.private._rule_list.PrivateRuleListClassifier",
        "glassleak.learners.private._tree.PrivateTreeClassifier",
        "glassleak.schema._schema.Schema",
    }
)


def load_estimator(path: str | Path, limits: Limits | None = None) -> Any:
    """The model in the .skops file at `path`, ready to predict.

    Raises
    ------
    UntrustedFileError
        A pickle: nobody can build what is in it without running its code.
    UnsupportedModelError
        Not a model glassleak reads (and so could check), or it names classes it does not know.
    MalformedModelError
        The file is damaged or hostile.
    """
    limits = limits or Limits()
    given = Path(path)
    try:
        content = _content(given, limits)
    except UntrustedFileError:
        raise UntrustedFileError(
            "a pickle or joblib file runs code when it is loaded, so glassleak does not build the "
            "model in it. If you made it, load it yourself and use glassleak.sanitise(model) in "
            "Python; or save it with skops first",
            given.name,
        ) from None
    return build(content, given.name, limits)


def build(content: bytes, name: str, limits: Limits | None = None) -> Any:
    """The same from the bytes of a file; `name` is for messages."""
    limits = limits or Limits()
    try:
        import skops.io
    except ImportError:  # pragma: no cover - skops comes with glassleak
        raise MissingExtraError("skops is not installed") from None
    with tempfile.TemporaryDirectory() as folder:
        # Checked and built from one private copy, which nobody can exchange in between.
        copy = Path(folder) / name
        copy.write_bytes(content)
        opened = open_model(copy, "none", limits)
        if opened.model is None:
            raise opened.problem or UnsupportedModelError("no model found", name)
        if isinstance(opened.model, Forest) and opened.model.aggregation == "sum":
            # scikit-learn writes scores to where attributes say that nobody has checked.
            raise UnsupportedModelError(
                "boosted models are not built from files; sanitise the object in Python", name
            )
        _check_trees(copy, opened.model, limits)
        with _as_malformed("skops cannot look through it", name):
            asked = set(skops.io.get_untrusted_types(file=copy))
        unknown = sorted(asked - _KNOWN)
        if unknown:
            raise UnsupportedModelError(
                f"it names {unknown[0]}, which glassleak does not know, so it is not built", name
            )
        with _as_malformed("skops cannot build it", name):
            made = skops.io.load(copy, trusted=sorted(asked))
    _try_out(made, opened.model, name)
    return made


@contextmanager
def _as_malformed(what: str, name: str) -> Iterator[None]:
    """Whatever skops and the classes it builds raise, as one kind of error."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:200]
        raise MalformedModelError(f"{what}: {why}", name) from None


def _try_out(made: Any, model: Model, name: str) -> None:
    """Parts that were read one by one may still not fit together."""
    inner = last_step(made)
    if getattr(inner, "n_features_in_", None) != len(model.columns):
        # scikit-learn would not notice a table of another width, and read beyond its end.
        raise MalformedModelError("the number of columns is not stored", name)
    if isinstance(model, MultiwayTree):
        row = np.array([[levels[0] for levels in model.levels]], dtype=object)
    else:
        row = np.zeros((1, len(model.columns)))
    with _as_malformed("it does not predict", name), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = [np.asarray(getattr(inner, method)(row)) for method in _METHODS
                   if hasattr(inner, method) and not _without_scores(model, method)]  # fmt: skip
    if any(len(answer) != 1 for answer in answers):
        raise MalformedModelError("it does not predict", name)


def _without_scores(model: Model, method: str) -> bool:
    """Rule lists and trees of glassleak without counts only predict."""
    own = model.provenance.library == "glassleak"
    return method != "predict" and own and isinstance(getattr(model, "counts", None), Missing)


def _content(path: Path, limits: Limits) -> bytes:
    opened = open_model(path, "none", limits)
    if opened.container != "skops":
        raise UnsupportedModelError(
            f"holds a {opened.container} model; a sanitised copy is made of scikit-learn models "
            "saved with skops",
            path.name,
        )
    return path.read_bytes()


def _check_trees(path: Path, model: Model, limits: Limits) -> None:
    """Every tree of the file must be one of the model, all of which have been checked."""
    checked = len(model) if isinstance(model, Forest) else int(isinstance(model, Tree))
    found = 0
    for visited in walk(decode_skops(path, limits)):
        value = visited.value
        if not isinstance(value, State):
            continue
        found += (value.module, value.name) == _TREE
        if value.name == _OTHER_TREES:
            found += checked + 1
    if found > checked:
        raise UnsupportedModelError(
            "holds further trees beside those of the model, which glassleak has not checked",
            path.name,
        )
