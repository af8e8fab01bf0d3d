"""A published model as partitions of the profiles: every tree, or a rule list, is one part.

A part sends each profile to exactly one *group* (leaf or rule) and publishes how many training
rows of each class every group holds.  All analyses see models only in this form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glassleak.errors import UnsupportedModelError
from glassleak.models import Exact, Forest, Label, Model, Tree


@dataclass(frozen=True)
class Part:
    """One partition of the profiles.

    Attributes
    ----------
    name : str
        ``"tree 3"`` or ``"rule list"``.
    groups : tuple of str
        What each group is called, such as ``"leaf 17"``.
    counts : (groups, classes) int array
        Training rows per group and class.
    assign : callable
        ``assign(values)`` gives the group of every row of an array in the model's columns.
    nan_rule : bool
        Whether missing values have a defined way.
    """

    name: str
    groups: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    assign: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.int32]]

    @property
    def n_groups(self) -> int:
        return len(self.groups)


@dataclass(frozen=True)
class Published:
    """Everything several models of one training set publish, as parts over the same columns."""

    columns: tuple[str, ...]
    classes: tuple[Label, ...]
    parts: tuple[Part, ...]
    thresholds: dict[str, npt.NDArray[np.float64]]
    precision: str
    comparison: str
    n_rows: int
    class_totals: npt.NDArray[np.int64]


def published(model: Model | Sequence[Model]) -> Published:
    """What `model` (or several models of the same data) publishes.

    Raises
    ------
    UnsupportedModelError
        When counts are noisy or missing, or trees were trained on bootstrap samples: then group
        counts are not sums over the same rows.
    """
    models = tuple(model) if isinstance(model, Sequence) else (model,)
    head = models[0]
    parts: list[Part] = []
    found: dict[str, list[npt.NDArray[np.float64]]] = {}
    styles = set()
    for number, one in enumerate(models):
        if one.columns != head.columns or one.classes != head.classes:
            raise UnsupportedModelError("the models differ in columns or classes")
        prefix = f"model {number}, " if len(models) > 1 else ""
        if isinstance(one, Forest) and one.bagging.kind != "none":
            raise UnsupportedModelError(
                "every tree was trained on its own bootstrap sample, so the counts of different "
                "trees do not describe the same rows"
            )
        members = one.trees if isinstance(one, Forest) else (one,)
        for i, member in enumerate(members):
            name = f"{prefix}tree {i}" if isinstance(one, Forest) else f"{prefix}model"
            parts.append(_part(member, name))
            style = (member.precision, getattr(member, "comparison", "<="))
            styles.add(style)
        for column, thresholds in one.split_evidence().thresholds.items():
            found.setdefault(column, []).append(thresholds)
    if len(styles) > 1:
        raise UnsupportedModelError("the models compare values in different ways")
    precision, comparison = styles.pop()
    totals = parts[0].counts.sum(axis=0)
    merged = {c: np.unique(np.concatenate(v)) for c, v in found.items()}
    return Published(
        head.columns, head.classes, tuple(parts), merged, precision, comparison,
        int(totals.sum()), totals,
    )  # fmt: skip


def _part(member: Tree | Model, name: str) -> Part:
    counts = getattr(member, "counts", None)
    if not isinstance(counts, Exact):
        raise UnsupportedModelError("exact counts per class are needed, and are not published", name)
    if isinstance(member, Tree):
        leaves = member.leaves
        position = np.full(member.n_nodes, -1, dtype=np.int32)
        position[leaves] = np.arange(len(leaves), dtype=np.int32)

        def assign(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
            return position[member.apply(values)]

        return Part(name, tuple(f"leaf {i}" for i in leaves), counts.values[leaves], assign)
    rules = tuple(f"rule {i}" for i in range(len(counts.values)))
    return Part(name, rules, counts.values, member.apply)  # type: ignore[arg-type]
