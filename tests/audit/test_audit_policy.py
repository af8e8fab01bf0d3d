"""Policies as files: what they hold, how they extend each other, what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_models import stump

import glassleak as gl
from glassleak.errors import AuditError


def written(folder: Path, text: str, name: str = "policy.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_shipped_policies_have_a_reason_and_a_source_for_everything() -> None:
    for name in ("default", "sacro"):
        policy = gl.Policy.from_toml(name)
        assert policy.name == name
        for line in policy.to_document():
            assert line["reason"], line
            assert line["source"], line
    assert gl.Policy.from_toml("default") == gl.Policy()
    changed = gl.Policy.from_toml("sacro").values
    assert {n for n, v in changed.items() if v != gl.Policy().values[n]} == {
        "forests_need_degrees_of_freedom"
    }


def test_a_project_lists_only_what_differs(tmp_path: Path) -> None:
    path = written(tmp_path, """
        extends = "default"
        name = "our environment"
        allow_small_classes = true
        [min_people]
        value = 5
        reason = "rule 7 of our handbook"
    """)  # fmt: skip
    policy = gl.Policy.from_toml(path)
    assert policy.values == gl.Policy(min_people=5, allow_small_classes=True).values
    lines = {line["name"]: line for line in policy.to_document()}
    assert lines["min_people"]["reason"] == "rule 7 of our handbook"
    assert lines["min_people"]["origin"] == "our environment"
    assert lines["min_people"]["default"] == 10
    assert lines["allow_small_classes"]["source"] == "set by policy 'our environment'"
    assert lines["max_epsilon"]["origin"] == "default"


def test_a_file_may_extend_another_file(tmp_path: Path) -> None:
    written(tmp_path, 'extends = "sacro"\nmin_people = 20', "base.toml")
    policy = gl.Policy.from_toml(written(tmp_path, 'extends = "base.toml"\nmax_epsilon = 2'))
    assert policy.min_people == 20
    assert policy.max_epsilon == 2
    assert policy.forests_need_degrees_of_freedom


def test_there_and_back_again(tmp_path: Path) -> None:
    policy = gl.Policy(min_people=3, max_expected_share=0.5)
    path = tmp_path / "policy.toml"
    policy.to_toml(path)
    assert gl.Policy.from_toml(path).values == policy.values


WRONG = {
    "incomplete": ("min_people = 5", "allow_pure_leaves is missing"),
    "unknown": ('extends = "default"\nmin_peple = 5', "'min_peple'"),
    "wrong type": ('extends = "default"\nmin_people = "5"', "min_people must be a whole number"),
    "a number for a switch": ('extends = "default"\nallow_pure_leaves = 1', "true or false"),
    "not finite": ('extends = "default"\nmax_epsilon = inf', "finite"),
    "negative": ('extends = "default"\nmax_epsilon = -1', "negative"),
    "share": ('extends = "default"\nmax_expected_share = 5', "between 0 and 1"),
    "unknown entry": ('extends = "default"\n[min_people]\nvalue = 5\nwhy = "x"', "'why'"),
    "no value": ('extends = "default"\n[min_people]\nreason = "x"', "min_people: no value"),
    "reason": ('extends = "default"\n[min_people]\nvalue = 5\nreason = 5', "must be a text"),
    "no TOML": ("min_people = ", "not a readable policy file"),
    "another format": ('format = "glassleak-model"', "not a glassleak-policy file"),
    "another version": ("version = 2", "version 1"),
    "itself": ('extends = "policy.toml"', "extend each other"),
    "nowhere": ('extends = "none.toml"', "no policy file"),
    "strange base": ("extends = 3", "extends must be"),
    "name": ('extends = "default"\nname = 5', "name must be"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_policy(name: str, tmp_path: Path) -> None:
    text, message = WRONG[name]
    with pytest.raises(AuditError, match=message):
        gl.Policy.from_toml(written(tmp_path, text))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="shipped: default, sacro"):
        gl.Policy.from_toml(tmp_path / "none.toml")
    (tmp_path / "policy.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(AuditError, match="not a readable policy"):
        gl.Policy.from_toml(tmp_path / "policy.toml")
    written(tmp_path, "#" * 1_000_001)
    with pytest.raises(AuditError, match="is no policy"):
        gl.Policy.from_toml(tmp_path / "policy.toml")


def test_changes_are_recorded() -> None:
    policy = gl.Policy().with_changes("command line", min_people=5, max_epsilon=1.0)
    origins = {line["name"]: line["origin"] for line in policy.to_document()}
    assert origins["min_people"] == "command line"
    assert origins["max_epsilon"] == "default", "the same value is no change"
    with pytest.raises(AuditError, match="'people'"):
        policy.with_changes(people=3)


def test_an_audit_takes_a_file(tmp_path: Path) -> None:
    model: Any = stump((4, 4), (30, 30))
    path = written(tmp_path, 'extends = "default"\nname = "lenient"\nmin_people = 3')
    assert gl.audit(model, budget_seconds=5).verdict == "fix"
    lenient = gl.audit(model, policy=path, budget_seconds=5)
    assert lenient.verdict == "release"
    assert lenient.to_document()["settings"]["policy"] == "lenient"
