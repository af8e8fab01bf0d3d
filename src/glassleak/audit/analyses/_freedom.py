"""Residual degrees of freedom: rows minus parameters, as disclosure control counts them."""

from __future__ import annotations

from typing import Any

from glassleak.audit._finding import Effect, Finding
from glassleak.audit._policy import Policy
from glassleak.models import Forest, Model, MultiwayTree, RuleList, Tree


def n_parameters(model: Model) -> int:
    """Two per split (column and threshold), and per leaf or rule one class share less than classes.

    A rule counts two for each of its conditions.
    """
    if isinstance(model, Forest):
        return sum(n_parameters(tree) for tree in model.trees)
    shares = len(model.classes) - 1
    if isinstance(model, RuleList):
        conditions = sum(len(rule.conditions) for rule in model.rules)
        return 2 * conditions + shares * len(model)
    leaves = len(model.leaves)
    splits = _n_nodes(model) - leaves
    # A split into named levels has no threshold.
    return (1 if isinstance(model, MultiwayTree) else 2) * splits + shares * leaves


def _n_nodes(model: Tree | MultiwayTree) -> int:
    return model.n_nodes if isinstance(model, Tree) else len(model.feature)


def residual(model: Model) -> int | None:
    """Rows minus parameters; ``None`` if the number of rows is not published."""
    return None if model.n_rows is None else model.n_rows - n_parameters(model)


def degrees_of_freedom(model: Model, policy: Policy) -> list[Finding]:
    """The finding, where there are too few."""
    left = residual(model)
    if left is None or left >= policy.min_degrees_of_freedom:
        return []
    several = isinstance(model, Forest) and len(model) > 1
    effect: Effect = "fix"
    detail = (
        "So many figures about so few rows can describe the rows one by one; the model may have "
        "learnt them by heart."
    )
    if several:
        effect = "refer" if policy.forests_need_degrees_of_freedom else "note"
        detail += (
            " That is so for nearly every forest; whether its rows follow is what the "
            "reconstruction answers."
        )
    evidence: dict[str, Any] = {
        "rows": model.n_rows,
        "parameters": n_parameters(model),
        "degrees_of_freedom": left,
        "threshold": policy.min_degrees_of_freedom,
    }
    return [
        Finding(
            id="structure.degrees-of-freedom",
            title=f"{evidence['parameters']:,} parameters for {model.n_rows:,} rows",
            detail=f"{left:,} degrees of freedom remain, fewer than "
            f"{policy.min_degrees_of_freedom}. {detail}",
            effect=effect,
            remedy="Fewer and larger leaves, fewer trees." if effect != "note" else "",
            evidence=evidence,
        )
    ]
