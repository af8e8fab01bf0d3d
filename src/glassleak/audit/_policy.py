"""The thresholds an audit decides by, each with the reason it is what it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from glassleak.audit._policy_file import (
    Rationale,
    Settings,
    read_policy,
    shipped_policy,
    write_policy,
)
from glassleak.errors import AuditError

_GIVEN = "given by the user"
_DEFAULT = shipped_policy("default")
_NO_FIELDS = ("name", "rationale")


def _default(name: str) -> Any:
    return _DEFAULT.values[name]


@dataclass(frozen=True)
class Policy:
    """What the audit lets pass.  Defaults come from ``policies/default.toml``.

    Parameters
    ----------
    min_people : int
        Fewest people a published leaf, rule, or class within one may describe.
    allow_pure_leaves : bool
        Whether leaves in which everybody has the same class may be published.
    allow_small_classes : bool
        Whether a class inside a large enough leaf may have fewer than `min_people` people.
    max_expected_share : float
        Share of training rows that a reconstruction may be expected to get right before a person
        has to decide, even if no single row is certain.
    zeros_are_disclosive : bool
        Whether it matters that nobody in a leaf has one of three or more classes.
    min_degrees_of_freedom : int
        Fewest rows beyond the number of parameters.
    forests_need_degrees_of_freedom : bool
        Whether that applies to forests, too.
    max_epsilon : float
        Largest privacy budget a differentially private model may have spent.
    accept_privacy_claims : bool
        Whether a complete and consistent claim of privacy is taken as an assumption.
    max_membership_auc : float
        Largest area under the curve of a membership attack.
    max_members_found : float
        Largest share of members found while 1 % of the others are wrongly accused.
    max_likely_share : float
        Largest share of people whose class is 90 % sure to whoever knows the rest.
    name : str
        What the policy is called.
    rationale : mapping
        Reason, source and origin of every setting.
    """

    min_people: int = _default("min_people")
    allow_pure_leaves: bool = _default("allow_pure_leaves")
    allow_small_classes: bool = _default("allow_small_classes")
    max_expected_share: float = _default("max_expected_share")
    zeros_are_disclosive: bool = _default("zeros_are_disclosive")
    min_degrees_of_freedom: int = _default("min_degrees_of_freedom")
    forests_need_degrees_of_freedom: bool = _default("forests_need_degrees_of_freedom")
    max_epsilon: float = _default("max_epsilon")
    accept_privacy_claims: bool = _default("accept_privacy_claims")
    max_membership_auc: float = _default("max_membership_auc")
    max_members_found: float = _default("max_members_found")
    max_likely_share: float = _default("max_likely_share")
    name: str = "default"
    rationale: Mapping[str, Rationale] = field(
        default_factory=lambda: dict(_DEFAULT.rationale), repr=False, compare=False
    )

    def __post_init__(self) -> None:
        check_values(self.values)

    @property
    def values(self) -> dict[str, Any]:
        """Every setting by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NO_FIELDS}

    @classmethod
    def from_toml(cls, source: str | Path) -> Policy:
        """Read a policy file, or take a shipped policy by its name.

        Parameters
        ----------
        source : path, "default" or "sacro"
            The file names the policy it ``extends``, and lists what differs; without ``extends``
            it must list every setting.

        Raises
        ------
        AuditError
            Unknown settings, wrong types, missing settings; the message names the place.
        """
        return cls._from(read_policy(source))

    @classmethod
    def _from(cls, settings: Settings) -> Policy:
        return cls(**settings.values, name=settings.name, rationale=settings.rationale)

    def with_changes(self, origin: str = _GIVEN, **values: Any) -> Policy:
        """The same policy with some settings changed, and that recorded."""
        known = self.values
        for name in values:
            if name not in known:
                raise AuditError(f"no policy has a setting {name!r}")
        changed = {
            n: v for n, v in values.items() if v != known[n] or type(v) is not type(known[n])
        }
        rationale = dict(self.rationale)
        for name in changed:
            rationale[name] = replace(rationale[name], origin=origin)
        return replace(self, **changed, rationale=rationale)

    def to_document(self) -> list[dict[str, Any]]:
        """Every threshold with its reason, JSON-ready."""
        lines = []
        for name, value in self.values.items():
            why = self.rationale[name]
            default = _DEFAULT.values[name]
            # Constructed in Python with another value than the file the reason came from.
            given = why.origin == "default" and value != default
            lines.append({
                "name": name, "value": value, "default": default, "reason": why.reason,
                "source": why.source, "origin": _GIVEN if given else why.origin,
            })  # fmt: skip
        return lines

    def to_toml(self, path: str | Path | None = None) -> str:
        """The policy as a file `from_toml` reads, also written to `path` when given."""
        return write_policy(self.name, self.to_document(), path)


def check_values(values: Mapping[str, Any]) -> None:
    """Raise `AuditError` unless every setting has a value it can have."""
    for name, value in values.items():
        example = _DEFAULT.values[name]
        if isinstance(example, bool):
            if not isinstance(value, bool):
                raise AuditError(f"{name} must be true or false, got {value!r}")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise AuditError(f"{name} must be a {_kind(example)}, got {value!r}")
        elif isinstance(example, int) and not isinstance(value, int):
            raise AuditError(f"{name} must be a whole number, got {value!r}")
        elif not math.isfinite(value):
            raise AuditError(f"{name} must be finite, got {value!r}")
    if values["min_people"] < 1:
        raise AuditError("min_people must be at least 1")
    if values["max_epsilon"] < 0:
        raise AuditError("max_epsilon must not be negative")
    for name in _SHARES:
        if not 0 <= values[name] <= 1:
            raise AuditError(f"{name} must be between 0 and 1")


_SHARES = ("max_expected_share", "max_membership_auc", "max_members_found", "max_likely_share")


def _kind(example: object) -> str:
    return "whole number" if isinstance(example, int) else "number"
