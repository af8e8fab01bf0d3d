"""One walk over a fitted object's inert state, offered to every detector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from glassleak.models import Model
from glassleak.readers.artefacts._artefact import SEVERITIES, Artefact
from glassleak.readers.artefacts._bins import bin_thresholds, quantiles
from glassleak.readers.artefacts._boosters import lightgbm_documents, lightgbm_texts
from glassleak.readers.artefacts._categories import categories
from glassleak.readers.artefacts._columns import column_summaries
from glassleak.readers.artefacts._draws import bootstrap_seeds, out_of_bag, stored_draws
from glassleak.readers.artefacts._finding import Finding, claimed, grouped
from glassleak.readers.artefacts._frames import frames
from glassleak.readers.artefacts._noise import noise_seeds
from glassleak.readers.artefacts._row_arrays import row_arrays
from glassleak.readers.artefacts._rows import Rows, training_rows
from glassleak.readers.artefacts._searches import search_histories
from glassleak.readers.artefacts._shares import leaf_shares
from glassleak.readers.artefacts._survey import Survey, take_survey
from glassleak.readers.artefacts._tables import search_trees, training_tables
from glassleak.readers.artefacts._targets import leaf_targets
from glassleak.readers.artefacts._types import commands, foreign_types, home_paths
from glassleak.readers.artefacts._weights import labels_in_weights

# By what they look at: the object alone, or also the number of training rows.
BY_OBJECT: tuple[Callable[[Survey], Iterator[Finding]], ...] = (
    bootstrap_seeds,
    noise_seeds,
    leaf_shares,
    leaf_targets,
    stored_draws,
    out_of_bag,
    search_trees,
    column_summaries,
    bin_thresholds,
    search_histories,
    commands,
    foreign_types,
    home_paths,
)
BY_ROWS: tuple[Callable[[Survey, Rows], Iterator[Finding]], ...] = (
    labels_in_weights,
    training_tables,
    frames,
    quantiles,
    categories,
    lightgbm_texts,
    lightgbm_documents,
)


def scan(root: Any, model: Model | None = None) -> tuple[Artefact, ...]:
    """Everything the object keeps about its training rows, gravest first.

    Parameters
    ----------
    root : State or other inert value
        A fitted object as data (`state_of`, or what a container reader returns), or a document
        such as LightGBM's model text.
    model : Tree, Forest or RuleList, optional
        The same object as a model, where a reader understands it; it says how many training rows
        there were.

    Returns
    -------
    tuple of Artefact
        Sorted by severity ("refer" before "fix" before "note"), then by place.  Equal findings
        at the same attribute of many trees or nodes are one artefact with a count.
    """
    survey = take_survey(root)
    rows = training_rows(survey, model)
    findings = [finding for detector in BY_OBJECT for finding in detector(survey)]
    findings += [finding for detector in BY_ROWS for finding in detector(survey, rows)]
    # Last, and only for what nobody could name.
    findings += row_arrays(survey, rows, claimed(findings))
    order = {severity: i for i, severity in enumerate(reversed(SEVERITIES))}
    return tuple(
        sorted(grouped(findings, survey), key=lambda a: (order[a.severity], a.where, a.kind))
    )
