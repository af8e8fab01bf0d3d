"""Reconstruct from counts that carry noise: the most likely table, of which nothing is certain."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.errors import UnsupportedModelError
from glassleak.knowledge import (
    Known,
    enumerate_cells,
    likely_sizes,
    most_likely,
    profile_space,
    published,
    separate_trees,
)
from glassleak.models import Model, Noisy, RuleList, Tree
from glassleak.reconstruction._assemble import assemble
from glassleak.reconstruction._cells_attack import attack
from glassleak.reconstruction._result import Reconstruction
from glassleak.reconstruction._survey import Progress
from glassleak.schema import Schema


def attack_noisy(
    model: Model,
    schema: Schema,
    known: Known,
    *,
    n_rows: int | None,
    deadline: float,
    seed: int,
    central: bool,
    progress: Progress | None,
) -> Reconstruction:
    """The most likely counts first, then a table that has them.

    In the line of reconstruction attacks on private forests: noise makes the answer wrong, not
    impossible.  No statement about a person is certain, and the certificate makes none.  In a
    forest of glassleak's private learner nobody is in two trees, so what every tree gives is put
    together.
    """
    started = time.monotonic()
    trees = separate_trees(model)
    if trees is not None:
        if not known.nothing:
            raise UnsupportedModelError(
                "what else is known cannot be used for a private forest: nobody knows whose tree "
                "a person is in"
            )
        tables = []
        for i, (tree, size) in enumerate(zip(trees, likely_sizes(trees, n_rows), strict=True)):
            now = time.monotonic()
            until = now + max(0.1, deadline - now) / (len(trees) - i)
            tables.append(
                attack_noisy(
                    tree, schema, known, n_rows=size, deadline=until, seed=seed + i,
                    central=central, progress=progress,
                )
            )  # fmt: skip
        return _together(tables, time.monotonic() - started)
    likely = most_likely(model, n_rows, _reachable(model, schema, deadline))
    assert isinstance(model, Tree | RuleList)
    assert isinstance(model.counts, Noisy)
    facts = published(likely)
    found = attack(facts, schema, known, deadline=deadline, seed=seed, progress=progress)
    table = assemble(facts, found, started, deadline, central=central, progress=progress)
    scale = model.counts.scale
    # Of a group this many people are in it, or out of it, by noise alone.
    astray = 2 * math.exp(-1 / scale) / (1 - math.exp(-2 / scale))
    trust = 1 - np.minimum(1.0, astray / np.maximum(table.alike, 1))
    certificate = replace(
        table.certificate,
        replayed=False,
        unique=None,
        proof="none: the counts carry noise, so many tables could have led to them",
        certain_rows=0,
        certain_in_part=0,
        complete=True,
        bounds=table.certificate.bounds.iloc[:0],
        statements=(_statement(model.counts),),
    )
    return replace(
        table,
        status="likely",
        exact=False,
        certificate=certificate,
        confidence=table.confidence * trust,
        formulation="most likely counts",
        details=table.details | {"noise_scale": scale},
    )


def _together(tables: Sequence[Reconstruction], seconds: float) -> Reconstruction:
    first = tables[0]
    details = {"noise_scale": first.details["noise_scale"], "trees": len(tables)}
    return replace(
        first,
        table=pd.concat([one.table for one in tables], ignore_index=True),
        labels=np.concatenate([one.labels for one in tables]),
        seconds=seconds,
        confidence=np.concatenate([one.confidence for one in tables]),
        # Of the same tree: people of different trees were counted apart.
        alike=np.concatenate([one.alike for one in tables]),
        details=details,
    )


def _statement(counts: Noisy) -> str:
    return (
        f"the counts carry {counts.mechanism} noise of scale {counts.scale:g}: this is the most "
        "likely table, and nothing about a single person is certain"
    )


def _reachable(model: Model, schema: Schema, deadline: float) -> npt.NDArray[np.bool_]:
    """Leaves or rules that some possible profile reaches.

    A private tree is complete: it may ask the same question twice, and still has noise to publish
    where no answer leads.
    """
    facts = published(most_likely(model))
    (part,) = facts.parts
    # With somebody of every class everywhere nothing is ruled out by counts.
    everywhere = replace(part, counts=np.ones_like(part.counts))
    space = profile_space(
        schema, facts.columns, facts.thresholds, facts.precision, facts.comparison
    )
    cells = enumerate_cells(replace(facts, parts=(everywhere,)), space, deadline=deadline)
    return np.isin(np.arange(part.n_groups), cells.groups[:, 0])
