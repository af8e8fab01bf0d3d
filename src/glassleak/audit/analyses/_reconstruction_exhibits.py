"""What a reconstruction shows a reader: a few of its rows, and how sure it is of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from glassleak.audit._exhibit import Exhibit
from glassleak.audit.analyses._freedom import n_parameters
from glassleak.models import Forest, Model
from glassleak.reconstruction import Reconstruction
from glassleak.schema import Categorical, Schema

_ROWS, _COLUMNS = 20, 30
# From how sure on a row is called likely; between this and a half it is more likely than not.
_LIKELY, _EVEN, _WORTH_SHOWING = 0.9, 0.5, 0.01
# Share of places of rows in leaves that may be wrong in a table that is close to the truth.
_MISPLACED = 0.05
# Sizes of groups that share all values and class, as disclosure control counts them.
SIZES = ((1, 1), (2, 4), (5, 9), (10, 49), (50, None))


def exhibits_of(
    found: Reconstruction, schema: Schema, model: Model, min_people: int
) -> tuple[Exhibit, ...]:
    """Tables behind `reconstruction.rows`."""
    if not len(found.table):
        return ()
    made = [_certainty(found)]
    # Rows an attacker would not bet one in a hundred on are no evidence of anything, unless only
    # the last digits of numbers are open.
    near = _is_near(found, model)
    if near or float(found.confidence.max()) >= _WORTH_SHOWING:
        made.insert(0, _sample(found, schema, near=near))
    if isinstance(model, Forest) and len(model) > 1:
        made.append(_people(found, min_people))
    return tuple(made)


def _is_near(found: Reconstruction, model: Model) -> bool:
    """Whether the table must be close to the truth though no number in it is sure.

    A forest that says more figures than the table has values leaves rows little room; so a table
    that puts nearly all rows into their leaves has nearly their values.
    """
    if not isinstance(model, Forest) or n_parameters(model) < found.table.size:
        return False
    wrong = found.details.get("misplaced", 0 if found.exact else None)
    return wrong is not None and wrong <= _MISPLACED * len(found.table) * len(model)


def _sample(found: Reconstruction, schema: Schema, *, near: bool) -> Exhibit:
    """The rows an attacker would be surest of, and of these the ones that stand alone first."""
    own_place = found.formulation == "replayed" or bool(
        found.details.get("rows_at_their_own_position")
    )
    order = np.lexsort((found.alike, -np.round(found.confidence, 6)))
    if not own_place:  # equal rows say nothing new: how many there are is told beside
        again = found.table.assign(**{"": found.labels}).iloc[order].duplicated().to_numpy()
        order = order[~again]
    order = order[:_ROWS]
    shown = readable_rows(found.table.iloc[order], schema)
    left_out = len(shown.columns) - _COLUMNS
    shown = shown.iloc[:, :_COLUMNS]
    columns = (
        *(("training row",) if own_place else ()),
        "certainty",
        "people alike",
        "class",
        *map(str, shown.columns),
    )
    rows = []
    for i, values in zip(order.tolist(), shown.itertuples(index=False), strict=True):
        place = (i + 1,) if own_place else ()
        rows.append((
            *place, _sure(float(found.confidence[i]), near=near), int(found.alike[i]),
            plain(found.labels[i]), *map(plain, values),
        ))  # fmt: skip
    caption = (
        f"{len(rows)} of {len(found.table):,} reconstructed rows, those first of which an attacker "
        "is surest and which fewest people share. “certain” is proved: every training table "
        "with the published counts holds the row; a percentage is how likely the row is in the "
        "training data exactly as shown."
    )
    if any("approximate" in row for row in rows):
        caption += (
            " “approximate”: the row is in its leaves or nearly so, which leaves a range for some "
            "numbers; one of them is shown."
        )
    if own_place:
        caption += " The first column is the row's place in the original table."
    if left_out > 0:
        caption += f" {left_out} more columns are not shown."
    return Exhibit(
        "reconstruction.sample",
        "Training rows as an attacker would write them down",
        caption,
        columns,
        tuple(rows),
        personal=True,
    )


def readable_rows(table: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """The table with the one-hot columns of an attribute as one column of names."""
    columns: dict[str, Any] = {}
    for attribute in schema:
        if isinstance(attribute, Categorical) and attribute.one_hot:
            block = table.loc[:, list(attribute.columns)].to_numpy() == 1
            names = [_level(level, attribute.name) for level in attribute.levels]
            columns[attribute.name] = [
                ", ".join(names[j] for j in np.flatnonzero(line)) or "none of them"
                for line in block
            ]
        else:
            columns |= {c: table[c].tolist() for c in attribute.columns}
    return pd.DataFrame(columns, index=table.index)


def _level(level: object, attribute: str) -> str:
    """``race_White`` of ``race`` as ``White``."""
    text = str(level)
    short = text.removeprefix(attribute).lstrip("_=: -")
    return short if short and text.startswith(attribute) else text


def plain(value: object) -> Any:
    """A value of a table or a label as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _sure(confidence: float, *, near: bool) -> str:
    if confidence >= 1:
        return "certain"
    if near and confidence < _WORTH_SHOWING:
        return "approximate"
    return f"{min(confidence, 0.99):.0%}" if confidence >= 0.01 else "under 1%"


def _certainty(found: Reconstruction) -> Exhibit:
    sure = found.confidence
    certain = sure >= 1
    counted = (
        ("certain (proved)", certain),
        ("likely (90% or more)", ~certain & (sure >= _LIKELY)),
        ("more likely than not", (sure < _LIKELY) & (sure >= _EVEN)),
        ("open (under 50%)", sure < _EVEN),
    )
    rows = tuple((name, int(mask.sum())) for name, mask in counted)
    return Exhibit(
        "reconstruction.certainty",
        f"How sure an attacker can be of each of the {len(sure):,} rows",
        "Number of reconstructed rows by how sure it is that the training data hold exactly this "
        "row, with all its values and class. Values on which the model does not depend count as "
        "open.",
        ("certainty", "rows"),
        rows,
        chart="bar",
    )


def _people(found: Reconstruction, min_people: int) -> Exhibit:
    rows = by_size(found.alike, np.ones(len(found.alike), dtype=np.int64))
    few = int((found.alike < min_people).sum())
    what = {
        "unique": "This is the training table itself.",
        "consistent": "The table is one of those that fit the model.",
    }.get(found.status, "The table is the most likely one found.")
    return Exhibit(
        "exposure.people",
        f"{few:,} of {len(found.alike):,} people are one of fewer than {min_people} with the same "
        "values",
        "Number of people by how many people of the reconstructed table share all values the "
        f"model tells apart, and class, with them (themselves included). {what}",
        ("people alike", "people"),
        rows,
        chart="bar",
    )


def by_size(sizes: Any, weights: Any) -> tuple[tuple[str, int], ...]:
    """The sum of `weights` by class of size."""
    sizes, weights = np.asarray(sizes), np.asarray(weights)
    rows = []
    for low, high in SIZES:
        inside = (sizes >= low) & (sizes <= high if high is not None else True)
        name = f"{low}" if low == high else f"{low} or more" if high is None else f"{low} to {high}"
        rows.append((name, int(weights[inside].sum())))
    return tuple(rows)
