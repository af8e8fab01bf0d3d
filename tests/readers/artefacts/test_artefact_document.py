from __future__ import annotations

import json
from typing import Any

import pytest

from glassleak.errors import MalformedModelError
from glassleak.readers.artefacts import Artefact

GOOD = {
    "kind": "row-array",
    "where": "Model.x",
    "reveals": "something",
    "severity": "fix",
    "remedy": "remove it",
    "evidence": {"shape": [3, 2], "share": 0.5, "none": None, "nested": {"a": [True]}},
}


def test_round_trip_through_json_text() -> None:
    artefact = Artefact(**GOOD)
    text = json.dumps(artefact.to_document(), allow_nan=False)
    assert Artefact.from_document(json.loads(text)) == artefact


def test_evidence_is_a_copy() -> None:
    shape = [3, 2]
    artefact = Artefact(**GOOD | {"evidence": {"shape": shape}})
    shape.append(9)
    artefact.to_document()["evidence"]["shape"].append(9)
    assert artefact.evidence == {"shape": [3, 2]}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"severity": "grave"}, "artefact.severity"),
        ({"severity": ["fix"]}, "artefact.severity"),
        ({"kind": ""}, "artefact.kind"),
        ({"kind": 3}, "artefact.kind"),
        ({"where": None}, "artefact.where"),
        ({"reveals": b"x"}, "artefact.reveals"),
        ({"evidence": [1]}, "artefact.evidence"),
        ({"evidence": None}, "artefact.evidence"),
        ({"evidence": {1: 2}}, "artefact.evidence"),
        ({"evidence": {"a": float("nan")}}, "artefact.evidence.a"),
        ({"evidence": {"a": [1, float("inf")]}}, "artefact.evidence.a[1]"),
        ({"evidence": {"a": object()}}, "artefact.evidence.a"),
        ({"evidence": {"a": 10**30}}, "artefact.evidence.a"),
        ({"evidence": {"a": list(range(20_000))}}, "artefact.evidence.a"),
        ({"extra": 1}, "artefact"),
    ],
)
def test_a_wrong_document_is_refused_with_its_place(change: dict[str, Any], place: str) -> None:
    with pytest.raises(MalformedModelError) as caught:
        Artefact.from_document(GOOD | change)
    assert caught.value.place == place


@pytest.mark.parametrize("name", ["kind", "where", "reveals", "severity", "remedy"])
def test_a_missing_entry_is_named(name: str) -> None:
    with pytest.raises(MalformedModelError, match=f"artefact.{name}"):
        Artefact.from_document({k: v for k, v in GOOD.items() if k != name})


@pytest.mark.parametrize("document", [None, [], "text", 4])
def test_only_objects_are_documents(document: Any) -> None:
    with pytest.raises(MalformedModelError, match="expected an object"):
        Artefact.from_document(document)


def test_nesting_without_end_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    with pytest.raises(MalformedModelError, match="nested"):
        Artefact.from_document(GOOD | {"evidence": loop})
