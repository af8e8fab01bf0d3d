"""What is known about numbers, in the same words whichever way the rows were found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from glassleak.reconstruction._result import Reconstruction
from glassleak.schema import Numeric, Ordinal, Schema


def with_uniform_values(found: Reconstruction, schema: Schema) -> Reconstruction:
    """`found` with ``details["values"]`` as `value_details` describes it.

    Searches and replayed draws report values in words of their own, and their rows are proved
    together or not at all.
    """
    own = _of_search(found) if found.formulation == "search" else _of_replayed(found, schema)
    if own is None:
        return found
    numbers = sum(isinstance(attribute, Ordinal | Numeric) for attribute in schema)
    if not numbers:
        return replace(found, details=found.details | {"values": None})
    own |= {"numbers": numbers * len(found.table)}
    return replace(found, details=found.details | {"values": own})


def _of_search(found: Reconstruction) -> dict[str, Any] | None:
    told = found.details.get("values")
    if not told or "share_if_placed" in told:
        return None
    # A search over rows never proves where a row is, and so no value.
    return dict(told) | {"share_exact": None, "share_if_placed": told["share_exact"]}


def _of_replayed(found: Reconstruction, schema: Schema) -> dict[str, Any] | None:
    told = found.details
    if "values" in told or "values_determined" not in told:
        return None
    certificate = found.certificate
    certain = certificate.certain_rows + certificate.certain_in_part == len(found.table)
    # A row whose leaves are certain may have a value or none, where both take the same way.
    either = any(getattr(attribute, "missing", False) for attribute in schema)
    determined = None if told["thresholds_in_conflict"] else told["values_determined"]
    return {
        "share_exact": determined if found.exact and certain and not either else None,
        "share_if_placed": determined if found.exact else None,
        "share_pinned": told["values_left_one"],
        "thresholds": told["thresholds"],
        "met": told["thresholds_met"],
        "conflicts": told["thresholds_in_conflict"],
    }
