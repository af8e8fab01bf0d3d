"""From published models to independent pieces that can be counted."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from glassleak.errors import InconsistentModelError, SchemaError
from glassleak.knowledge import (
    Known,
    Published,
    Space,
    System,
    linear_system,
    profile_space,
    with_known_columns,
)
from glassleak.knowledge._boxes import BoxSpace
from glassleak.reconstruction._components import Component, components
from glassleak.reconstruction._conflict import explain_conflict
from glassleak.reconstruction._propagate import propagate
from glassleak.schema import Schema
from glassleak.uncertainty.joint._cells import cells_within, group_profiles
from glassleak.uncertainty.joint._given import given_in_groups, given_rows
from glassleak.uncertainty.joint._piece import KINDS, IntArray, Kind, Piece, filled_bits


@dataclass(frozen=True)
class Pieces:
    """What is settled, and the pieces that are open.

    Attributes
    ----------
    left_out : int
        Parts that could not be used because the cells would have been too many.
    pieces : list of Piece
        Independent of each other, largest first.
    settled : dict of kind to bits
        log2 of the ways to fill what propagation determined.
    details : dict
    """

    left_out: int
    pieces: list[Piece]
    settled: dict[Kind, float]
    details: dict[str, int]


@dataclass(frozen=True)
class Single:
    """What one part alone leaves open.

    Attributes
    ----------
    name : str
    bits : dict of kind to bits
        Exact; nothing if the part could not be counted.
    """

    name: str
    bits: dict[Kind, float]


def singles(
    facts: Published, schema: Schema, known: Known, *, deadline: float = float("inf")
) -> list[Single]:
    """Equation 11 (or 16) for every part on its own; nothing for those after the deadline."""
    facts = with_known_columns(facts, known)
    layout = BoxSpace(_space(facts, schema), facts)
    given = given_in_groups(facts, known)
    found: list[Single] = []
    for part, taken in zip(facts.parts, given, strict=True):
        late = bool(found) and time.monotonic() > deadline
        profiles = None if late or (part.counts < 0).any() else group_profiles(layout, part)
        rows = part.counts - taken if part.by_class else part.counts - taken.sum(1)[:, None]
        if profiles is None or bool((rows < 0).any()):
            found.append(Single(part.name, {}))
            continue
        flat = [(n, k) for n, own in zip(profiles, rows.tolist(), strict=True) for k in own if k]
        if any(n == 0 for n, _ in flat):
            found.append(Single(part.name, {}))
            continue
        sizes, counts = [n for n, _ in flat], [k for _, k in flat]
        found.append(Single(part.name, {kind: filled_bits(sizes, counts, kind) for kind in KINDS}))
    return found


def pieces_of(
    facts: Published,
    schema: Schema,
    known: Known,
    *,
    deadline: float,
) -> Pieces:
    """Cells, equations, what propagation settles, and what stays open.

    Raises
    ------
    InconsistentModelError
        No table has these counts.
    SchemaError
        An attribute is continuous: the number of profiles is not finite.
    """
    facts = with_known_columns(facts, known)
    space = _space(facts, schema)
    cells, used = cells_within(facts, space, deadline=deadline)
    if cells.n_profiles is None:
        raise SchemaError("a continuous attribute has no number of values: declare its resolution")
    plain = linear_system(used, cells)
    system = _with_totals(used, plain)
    given = given_rows(used, cells, system, known)
    bounds = propagate(system.matrix, system.target, given, system.upper)
    if bounds.conflict is not None:
        if system is plain and not given.any():
            raise explain_conflict(used, space, system, deadline)
        raise InconsistentModelError("no table has these counts and also what is known besides")
    profiles = [cells.n_profiles[c] for c in system.cell.tolist()]
    pieces = [_piece(one, system, profiles, given) for one in components(system, bounds)]
    fixed = np.flatnonzero(bounds.fixed & (bounds.lower > given))
    sizes, rows = [profiles[j] for j in fixed], (bounds.lower - given)[fixed].tolist()
    details = {
        "trees": len(facts.parts),
        "trees_used": len(used.parts),
        "cells": len(cells),
        "unknowns": system.n_unknowns,
        "equations": len(system.target),
        "open_unknowns": int((~bounds.fixed).sum()),
        "pieces": len(pieces),
    }
    settled = {kind: filled_bits(sizes, rows, kind) for kind in KINDS}
    left_out = len(facts.parts) - len(used.parts)
    return Pieces(left_out, pieces, settled, details)


def _piece(one: Component, system: System, profiles: list[int], given: IntArray) -> Piece:
    return Piece(
        one.matrix,
        one.target,
        one.lower,
        one.upper,
        tuple(profiles[j] for j in one.unknowns.tolist()),
        given[one.unknowns],
        system.names[one.equations, 0],
    )


def _with_totals(facts: Published, system: System) -> System:
    """One more equation for every class, unless some part accounts for every row by its class.

    How many rows of each class there are counts as known to everybody.
    """
    alone = len(facts.classes) == 1
    if any((part.by_class or alone) and bool((part.counts >= 0).all()) for part in facts.parts):
        return system
    classes = np.arange(len(facts.classes))
    everyone = sp.csr_array((system.label[None, :] == classes[:, None]).astype(np.int64))
    own = np.full(len(classes), len(facts.parts))
    return replace(
        system,
        matrix=sp.csc_array(sp.vstack([sp.csr_array(system.matrix), everyone])),
        target=np.concatenate([system.target, facts.class_totals]),
        names=np.vstack([system.names, np.column_stack([own, 0 * classes, classes])]),
    )


def _space(facts: Published, schema: Schema) -> Space:
    return profile_space(schema, facts.columns, facts.thresholds, facts.precision, facts.comparison)
