"""Valid files of every format glassleak reads, small enough that a mutation hits something."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

TEXTS = {
    "plain": "if (a) then ({y=1})\nelse if (not b) then ({y=0})\nelse ({y=1})\n",
    "printed": "RULELIST:\nif [age<=22 && sex:M]:\n  r = True\nelse \n  r = False",
    "saved": "{age<=22,sex:M}~1;not priors>3~0;default~1",
}


@dataclass(frozen=True)
class Seed:
    """One valid file.

    Attributes
    ----------
    name, kind : str
        The kind decides how the file is mutated and opened.
    content : bytes
    """

    name: str
    kind: str
    content: bytes


def build() -> tuple[Seed, ...]:
    """The corpus: the same bytes on every run."""
    return tuple(_seeds())


def _seeds() -> Iterator[Seed]:
    data, labels = _table()
    for name, estimator in _estimators().items():
        estimator.fit(data, labels)
        yield Seed(f"{name}.skops", "skops", _skops(estimator))
        for protocol in (0, 2, 4, 5):
            content = pickle.dumps(estimator, protocol=protocol)
            yield Seed(f"{name}.{protocol}.pkl", "pickle", content)
        for compress in (0, 3, ("xz", 1)):
            yield Seed(f"{name}.{compress}.joblib", "joblib", _joblib(estimator, compress))
        yield from _own(name, estimator)
    yield from _rule_lists()
    yield from _boosted(data, labels)
    for name, text in TEXTS.items():
        yield Seed(f"{name}.txt", "CORELS text", text.encode())
    rules = [
        {"antecedents": [1, -2], "prediction": True, "train_labels": [3, 9]},
        {"antecedents": [0], "prediction": False, "train_labels": [20, 4]},
    ]
    corels = {"rules": rules, "features": ["a", "b"], "prediction_name": "y"}
    yield Seed("corels.json", "CORELS JSON", json.dumps(corels).encode())
    yield from _exploits()


def _table() -> tuple[Any, Any]:
    import pandas as pd

    rng = np.random.RandomState(0)
    table = pd.DataFrame(rng.randint(0, 4, (60, 3)).astype(float), columns=["a", "b", "c"])
    table = table.mask(rng.rand(60, 3) < 0.05)
    return table, rng.choice(["no", "perhaps", "yes"], 60)


def _estimators() -> dict[str, Any]:
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    return {
        "tree": tree,
        "forest": RandomForestClassifier(
            2, max_depth=3, class_weight="balanced", oob_score=False, random_state=0
        ),
        "extra": ExtraTreesClassifier(
            2, max_depth=2, bootstrap=True, class_weight="balanced_subsample", random_state=0
        ),
        "bag": BaggingClassifier(tree, 2, max_features=0.7, random_state=0),
        "pipeline": make_pipeline(
            SimpleImputer(), DecisionTreeClassifier(max_depth=2, class_weight={"yes": 3.0})
        ),
    }


def _skops(estimator: Any) -> bytes:
    """A .skops file whose bytes do not depend on memory addresses or the clock."""
    import skops.io

    stream = io.BytesIO()
    skops.io.dump(estimator, stream)
    with zipfile.ZipFile(stream) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop("schema.json"))
    numbers: dict[int, int] = {}
    stack: list[Any] = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if isinstance(value.get("__id__"), int):
                value["__id__"] = numbers.setdefault(value["__id__"], len(numbers))
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    renamed = {}
    text = json.dumps(schema)
    for i, (name, content) in enumerate(sorted(members.items(), key=lambda m: text.find(m[0]))):
        text = text.replace(name, f"{i}.npy")
        renamed[f"{i}.npy"] = content
    return zipped({"schema.json": text.encode(), **renamed})


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of `members`, dated 1980."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name or "empty")
            info.compress_type = method
            archive.writestr(info, content)
    return stream.getvalue()


def _joblib(estimator: Any, compress: Any) -> bytes:
    import joblib

    stream = io.BytesIO()
    joblib.dump(estimator, stream, compress=compress)
    return stream.getvalue()


def _own(name: str, estimator: Any) -> Iterator[Seed]:
    import glassleak as gl

    model = gl.read(estimator)
    yield Seed(f"{name}.lists.json", "glassleak JSON", model.to_json().encode())
    yield Seed(f"{name}.packed.json", "glassleak JSON", model.to_json(packed=True).encode())


def _rule_lists() -> Iterator[Seed]:
    from glassleak.models import Condition, Exact, Missing, Noisy, Rule, RuleList

    rules = (Rule((Condition(0, 0.5), Condition(1, -1.0, 2.5)), "yes"), Rule((), "no"))
    for name, counts in {
        "exact": Exact(np.array([[3, 9], [20, 4]])),
        "noisy": Noisy(np.array([[3.5, -9.0], [20.0, 4.0]]), 1.5, "laplace"),
        "missing": Missing("not published"),
    }.items():
        model = RuleList(("a", "b"), ("no", "yes"), rules, counts)
        yield Seed(f"rules.{name}.json", "glassleak JSON", model.to_json().encode())


def _boosted(data: Any, labels: Any) -> Iterator[Seed]:
    import lightgbm
    import xgboost

    numbers = np.unique(labels, return_inverse=True)[1]
    for name, target in {"two": numbers > 0, "three": numbers}.items():
        light = lightgbm.LGBMClassifier(
            n_estimators=2, num_leaves=4, min_child_samples=5, verbose=-1, n_jobs=1
        ).fit(data, target)
        text = light.booster_.model_to_string()
        yield Seed(f"lightgbm.{name}.txt", "LightGBM text", text.encode())
        document = json.dumps(light.booster_.dump_model())
        yield Seed(f"lightgbm.{name}.json", "LightGBM JSON", document.encode())
        extreme = xgboost.XGBClassifier(n_estimators=2, max_depth=2, n_jobs=1)
        extreme.fit(data, target.astype(int))
        raw = bytes(extreme.get_booster().save_raw("json"))
        yield Seed(f"xgboost.{name}.json", "XGBoost JSON", raw)
        for kind, fitted in (("lightgbm", light), ("xgboost", extreme)):
            yield Seed(f"{kind}.{name}.pkl", "pickle", pickle.dumps(fitted))


def _exploits() -> Iterator[Seed]:
    """Pickles that would create the file GLASSLEAK_CANARY if anything in them were run."""
    code = b"open(__import__('os').environ['GLASSLEAK_CANARY'], 'w').close()"
    shell = b'touch "$GLASSLEAK_CANARY"'
    programs = {
        "exec": b"cbuiltins\nexec\n(V" + code + b"\ntR.",
        "eval": b"\x80\x02cbuiltins\neval\nX" + len(code).to_bytes(4, "little") + code + b"\x85R.",
        "system": b"cposix\nsystem\n(V" + shell + b"\ntR.",
        "instance": b"(V" + shell + b"\nios\nsystem\n.",
    }
    for name, program in programs.items():
        yield Seed(f"{name}.pkl", "pickle", program)
