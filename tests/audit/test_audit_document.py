"""The audit as JSON: valid for every verdict and container, and true to the file."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
from pathlib import Path
from typing import Any

import joblib
import jsonschema
import lightgbm
import numpy as np
import pandas as pd
import pytest
import skops.io
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tiny_models import forest, rules, safe_tree, stump, tree

import glassleak as gl
from glassleak.audit import json_schema
from glassleak.audit._document import json_ready
from glassleak.models import Bagging, Exact, Missing, Noisy, Provenance

RNG = np.random.RandomState(0)
TABLE = pd.DataFrame(RNG.randint(0, 3, (200, 3)), columns=["a", "b", "c"])
TARGET = RNG.randint(0, 2, 200)


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def checked(audit: gl.audit, validator: Any) -> dict[str, Any]:  # type: ignore[valid-type]
    """The document, after a trip through text, if it is valid."""
    document = json.loads(audit.to_json())  # type: ignore[attr-defined]
    validator.validate(document)
    return document


def files(folder: Path) -> dict[str, Path]:
    """The same kind of model in every container."""
    estimator = DecisionTreeClassifier(max_depth=2, random_state=0).fit(TABLE, TARGET)
    boosted = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(TABLE, TARGET)
    other = xgboost.XGBClassifier(n_estimators=2).fit(TABLE, TARGET)
    skops.io.dump(estimator, folder / "tree.skops")
    skops.io.dump(
        HistGradientBoostingClassifier(max_iter=2).fit(TABLE, TARGET), folder / "hist.skops"
    )
    (folder / "tree.pkl").write_bytes(pickle.dumps(estimator))
    joblib.dump(estimator, folder / "tree.joblib", compress=3)
    gl.read(estimator).to_json(folder / "lists.json")
    gl.read(estimator).to_json(folder / "packed.json", packed=True)
    boosted.booster_.save_model(folder / "boosted.txt")
    (folder / "boosted.json").write_text(json.dumps(boosted.booster_.dump_model()))
    other.save_model(folder / "other.json")
    (folder / "rules.txt").write_text("if (a) then ({y=1})\nelse ({y=0})\n")
    (folder / "unknown.bin").write_bytes(b"\x00\x01\x02")
    return {path.name: path for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def containers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return files(tmp_path_factory.mktemp("containers"))


@pytest.mark.parametrize(
    "name",
    ["boosted.json", "boosted.txt", "hist.skops", "lists.json", "other.json", "packed.json",
     "rules.txt", "tree.joblib", "tree.pkl", "tree.skops", "unknown.bin"],
)  # fmt: skip
def test_every_container_gives_a_valid_document(
    name: str, containers: dict[str, Path], validator: Any
) -> None:
    path = containers[name]
    document = checked(gl.audit(path, trust="sandbox", budget_seconds=5), validator)
    content = path.read_bytes()
    assert document["model"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert document["model"]["bytes"] == len(content)
    assert document["model"]["name"] == name
    sandboxed = name in ("tree.pkl", "tree.joblib")
    assert bool(document["model"]["protection"]) == sandboxed
    assert document["model"]["supported"] == (name not in ("hist.skops", "unknown.bin"))


def verdicts() -> dict[str, Any]:
    return {
        "release": safe_tree(),
        "fix": tree(),
        "refer": forest(safe_tree(), safe_tree(), bagging=Bagging("unknown", 150), n_rows=150),
        "not assessed": {"no": "model"},
    }


@pytest.mark.parametrize("decision", ["release", "fix", "refer", "not assessed"])
def test_every_verdict_gives_a_valid_document(decision: str, validator: Any) -> None:
    audit = gl.audit(verdicts()[decision], budget_seconds=5)
    document = checked(audit, validator)
    assert document["verdict"]["decision"] == decision == audit.verdict
    ids = {a["id"] for a in document["analyses"]}
    findings = {f["id"] for a in document["analyses"] for f in a["findings"]}
    for reason in document["verdict"]["reasons"]:
        assert reason["analysis"] in ids
        assert reason["finding"] is None or reason["finding"] in findings
    unanswered = {a["id"] for a in document["analyses"] if a["status"] != "done"}
    assert {entry["analysis"] for entry in document["not_assessed"]} == unanswered


@pytest.mark.parametrize(
    ("model", "facts"),
    [
        (safe_tree(), {"kind": "Tree", "rows": 150, "trees": None, "rules": None,
                       "counts": "exact", "bagging": "none"}),
        (forest(safe_tree(), safe_tree()), {"kind": "Forest", "trees": 2, "bagging": "none"}),
        (forest(stump((1, 1), (1, 1), counts=Missing("none")), bagging=Bagging("unknown", 4)),
         {"kind": "Forest", "rows": None, "counts": "missing", "bagging": "unknown"}),
        (rules(Exact(np.full((3, 2), 20))), {"kind": "RuleList", "rules": 3, "rows": 120}),
        (rules(Noisy(np.full((3, 2), 20.5), 2.0, "laplace")), {"counts": "noisy", "rows": None}),
    ],
    ids=["tree", "forest", "silent forest", "rules", "noisy rules"],
)  # fmt: skip
def test_the_model_is_described(model: Any, facts: dict[str, Any], validator: Any) -> None:
    described = checked(gl.audit(model, budget_seconds=5), validator)["model"]
    assert {key: described[key] for key in facts} == facts
    assert described["columns"] == 2
    assert described["classes"] == ["no", "yes"]
    assert described["sha256"] is None


def test_the_record_says_who_decided_by_what(validator: Any) -> None:
    policy = gl.Policy(min_people=7, allow_pure_leaves=True)
    document = checked(gl.audit(safe_tree(), policy=policy, seed=3, budget_seconds=5), validator)
    assert document["tool"]["version"] == gl.__version__
    assert {"numpy", "scikit-learn", "skops"} <= set(document["tool"]["libraries"])
    thresholds = {t["name"]: t["value"] for t in document["policy"]}
    assert thresholds == gl.Policy().values | {"min_people": 7, "allow_pure_leaves": True}
    assert all(t["reason"] and t["source"] for t in document["policy"])
    given = {t["name"] for t in document["policy"] if t["origin"] != "default"}
    assert given == {"min_people", "allow_pure_leaves"}
    assert document["settings"]["seed"] == 3
    assert document["created"].endswith("+00:00")


def test_awkward_names_and_settings_do_not_break_the_record(tmp_path: Path, validator: Any) -> None:
    settings = {"a": math.nan, "b": 10**30, "c": {"d": {1, 2}}, "e": np.float64(2), "f": math.inf}
    model = stump(
        (40, 25), (30, 55), columns=("\ud800", "[/]\x1b[2J"), classes=("\udfff", 2**60),
        provenance=Provenance("lib", "1", "Thing", settings, ("note \ud801",)),
    )  # fmt: skip
    audit = gl.audit(model, budget_seconds=5)
    path = tmp_path / "report.json"
    document = json.loads(audit.to_json(path))
    validator.validate(document)
    assert json.loads(path.read_text(encoding="utf-8")) == document
    kept = document["model"]["settings"]
    assert (kept["a"], kept["b"], kept["f"]) == ("nan", str(10**30), "inf")
    assert document["model"]["classes"] == ["\udfff", str(2**60)]


@pytest.mark.parametrize(
    ("value", "ready"),
    [
        (2**53, 2**53),
        (2**53 + 1, str(2**53 + 1)),
        (-(2**60), str(-(2**60))),
        (True, True),
        ((1, [None, "x"]), [1, [None, "x"]]),
        ({3: -math.inf}, {"3": "-inf"}),
        (b"raw", "<bytes>"),
    ],
)
def test_json_ready(value: Any, ready: Any) -> None:
    assert json_ready(value) == ready
    assert json_ready(10**5000) == "huge", "Python refuses to write it out"


BROKEN = {
    "no verdict": lambda d: d.pop("verdict"),
    "another verdict": lambda d: d["verdict"].update(decision="maybe"),
    "fix without a reason": lambda d: d["verdict"].update(decision="fix", reasons=[]),
    "gap without a reason": lambda d: d["analyses"][0].update(status="failed", reason=""),
    "unknown status": lambda d: d["analyses"][0].update(status="skipped"),
    "hash cut": lambda d: d["model"].update(sha256="abc"),
    "unreadable without a problem": lambda d: d["model"].update(supported=False),
    "readable without counts": lambda d: d["model"].pop("counts"),
    "no analyses": lambda d: d.update(analyses=[]),
    "policy without reason": lambda d: d["policy"][0].pop("reason"),
    "finding without effect": lambda d: d["analyses"][1]["findings"][0].pop("effect"),
    "finding with another id": lambda d: d["analyses"][1]["findings"][0].update(id="Bad Id"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_schema_refuses_what_is_no_record(name: str, validator: Any) -> None:
    document = json.loads(gl.audit(safe_tree(), budget_seconds=5).to_json())
    BROKEN[name](document)
    assert not validator.is_valid(document)


def test_a_report_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.json"
    path.write_text("the old report")
    audit = gl.audit(safe_tree(), budget_seconds=5)

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            audit.to_json(path)
    assert path.read_text() == "the old report"
    assert list(tmp_path.iterdir()) == [path], "no remains"
    audit.to_json(path)
    assert json.loads(path.read_text())["format"] == "glassleak-audit"


def test_a_forest_on_disk_and_in_memory_get_the_same_verdict(tmp_path: Path) -> None:
    estimator = RandomForestClassifier(3, max_depth=2, random_state=0).fit(TABLE, TARGET)
    skops.io.dump(estimator, tmp_path / "forest.skops")
    live, stored = (gl.audit(s, budget_seconds=2) for s in (estimator, tmp_path / "forest.skops"))
    assert live.verdict == stored.verdict
    assert [f.id for f in live.findings] == [f.id for f in stored.findings]
