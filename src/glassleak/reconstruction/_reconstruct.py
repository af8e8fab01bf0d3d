"""Reconstruct the training set of a published model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from glassleak.errors import (
    ModelTooLargeError,
    SchemaError,
    UnsupportedModelError,
)
from glassleak.knowledge import Known, assumed_schema, is_noisy, labels_only, published
from glassleak.models import Forest, Model, MultiwayTree, RuleList, Tree
from glassleak.reconstruction._assemble import assemble
from glassleak.reconstruction._bagging import attack_resampled
from glassleak.reconstruction._cells_attack import attack
from glassleak.reconstruction._labels_attack import attack_labels
from glassleak.reconstruction._noisy_attack import attack_noisy
from glassleak.reconstruction._numbers import Numbers, with_values
from glassleak.reconstruction._published_attack import attack_as_published
from glassleak.reconstruction._regression import attack_regression
from glassleak.reconstruction._result import Reconstruction
from glassleak.reconstruction._rows_only import (
    rows_as_counts,
    tells_rows_only,
    without_labels,
)
from glassleak.reconstruction._survey import Progress
from glassleak.reconstruction._uniform import with_uniform_values
from glassleak.reconstruction.mixed import attack_rows, searchable
from glassleak.schema import Schema

Formulation = Literal["auto", "cells", "search", "rows-cp", "rows-milp"]
# Of the budget, for finding out whether cells can be enumerated where rows could be searched for.
_CELLS_SHARE = 0.5


def reconstruct(
    model: Model | Sequence[Model],
    schema: Schema | None = None,
    known: Known | None = None,
    multiplicities: Any = "auto",
    formulation: Formulation = "auto",
    budget_seconds: float = 60,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    all_bounds: bool = False,
    central: bool = True,
    n_rows: int | None = None,
) -> Reconstruction:
    """Reconstruct the training set from the counts a model publishes.

    Parameters
    ----------
    model : Tree, Forest or RuleList, or several models of the same data
        With exact counts.
    schema : Schema, optional
        Which profiles are possible.  Inferred from the model when not given, which assumes more
        profiles rather than fewer, and room for numbers beyond the outermost thresholds.
    known : Known, optional
        What else the adversary knows: some columns of every row, or some rows completely.
    multiplicities : "auto", "known", "unknown" or (trees, rows) array of whole numbers
        For forests whose trees each drew their own sample of rows: how often each row was drawn.
        "known" repeats the draws from stored seeds, "unknown" does without, whatever the model
        stores; "auto" repeats them where it can.  With the draws every row has an identity, and
        the table comes back in the original order of rows.
    formulation : "auto", "cells", "search", "rows-cp" or "rows-milp"
        "cells" and "search" are glassleak's own: histograms over everything the model tells
        apart, and a search over rows where that cannot be enumerated (numbers, many categories);
        "auto" takes the first that applies.  The others are the published formulations, for
        comparison.
    budget_seconds : float
    seed : int
    progress : callable, optional
        ``progress(step, share_done)``; raise from it to cancel.
    all_bounds : bool
        Spend the budget on the exact smallest and largest count of *every* cell.  Otherwise only
        what says who is certainly in the training set is decided exactly; the other bounds are
        valid but may not be attained.
    central : bool
        Of many consistent tables return the most central sampled one, whose expected error is
        smallest; otherwise the one found first.
    n_rows : int, optional
        For bagged forests that do not say on how many rows they were trained, and for private
        models, whose noisy counts do not add up to it.

    Returns
    -------
    Reconstruction
        Whose table has been sent through the model and reproduces every published count; from
        noisy counts the most likely table, with status "likely".

    Raises
    ------
    InconsistentModelError
        No table has these counts; the message names a minimal conflicting set of leaves.
    UnsupportedModelError
        The counts do not describe the same rows (bagging), or are noisy or missing.
    BudgetExhaustedError
        Nothing was found in time.
    """
    started = time.monotonic()
    if not budget_seconds > 0:
        raise ValueError(f"budget_seconds must be positive, got {budget_seconds!r}")
    for one in model if isinstance(model, Sequence) else (model,):
        if not isinstance(one, Tree | Forest | RuleList | MultiwayTree):
            raise TypeError(
                f"expected a model as glassleak.read returns it, got {type(one).__name__}"
            )
    known = known or Known()
    if isinstance(model, Tree | Forest) and (model.is_regression or tells_rows_only(model)):
        if formulation not in ("auto", "cells", "search"):
            raise UnsupportedModelError("the published formulations need counts per class")
        if schema is None:
            schema = assumed_schema(model)

        def by_counts(counted: Tree | Forest, drawn: Any = "auto") -> Reconstruction:
            left = max(0.1, started + budget_seconds - time.monotonic())
            return reconstruct(
                counted, schema, known, drawn, formulation=formulation, budget_seconds=left,
                seed=seed, progress=progress, all_bounds=all_bounds, central=central,
            )  # fmt: skip

        if not model.is_regression:
            _check_unsampled(multiplicities)
            return without_labels(by_counts(rows_as_counts(model)))
        return attack_regression(
            model, schema, known, multiplicities, by_counts, started=started, seed=seed,
            deadline=started + budget_seconds, progress=progress,
        )  # fmt: skip
    noisy = not isinstance(model, Sequence) and is_noisy(model)
    resampled = isinstance(model, Forest) and model.bagging.kind != "none" and not noisy
    if not resampled and not noisy:
        _check_unsampled(multiplicities)
        facts = published(model, known.nodes)
    if schema is None:
        if isinstance(model, Sequence):
            raise SchemaError("several models need a schema")
        schema = assumed_schema(model)
    if isinstance(model, Forest) and resampled:
        resampled_rows = attack_resampled(
            model, schema, known, multiplicities, formulation, n_rows=n_rows,
            budget_seconds=budget_seconds, seed=seed, progress=progress, central=central,
        )  # fmt: skip
        return with_uniform_values(resampled_rows, schema)
    deadline = started + budget_seconds
    if noisy and not isinstance(model, Sequence):
        return attack_noisy(
            model, schema, known, n_rows=n_rows, deadline=deadline, seed=seed, central=central,
            progress=progress,
        )  # fmt: skip
    if formulation in ("rows-cp", "rows-milp"):
        if not isinstance(model, Forest) or not known.nothing:
            raise UnsupportedModelError("the published formulations take a forest and nothing else")
        return attack_as_published(
            model, facts, schema, formulation, budget_seconds, seed, progress
        )
    if formulation not in ("auto", "cells", "search"):
        raise ValueError(f"unknown formulation {formulation!r}")

    def searched() -> Reconstruction:
        rows = attack_rows(
            model, facts, schema, known, started=started, deadline=deadline, seed=seed,
            progress=progress,
        )  # fmt: skip
        return with_uniform_values(rows, schema)

    if formulation == "search":
        return searched()
    if known.labels_only:
        seen = labels_only(facts)
        guess = attack_labels(seen, schema, deadline=deadline, seed=seed, progress=progress)
        return assemble(seen, guess, started, deadline, central=central, progress=progress)
    instead = formulation == "auto" and searchable(model, known)
    try:
        found = attack(
            facts,
            schema,
            known,
            deadline=deadline,
            seed=seed,
            all_bounds=all_bounds,
            progress=progress,
            cells_deadline=started + _CELLS_SHARE * budget_seconds if instead else deadline,
        )
    except ModelTooLargeError:
        if not instead:
            raise
        return searched()
    refine = None
    if known.nodes is None:  # otherwise cells do not say which leaf a row is in
        given = () if known.columns is None else tuple(map(str, known.columns))
        refine = partial(_with_values, model, schema, given)
    return assemble(
        facts, found, started, deadline, central=central, progress=progress, refine=refine
    )


def _with_values(
    model: Model | Sequence[Model], schema: Schema, given: tuple[str, ...], table: Any, certain: Any
) -> Numbers:
    return with_values(model, schema, table, certain=certain, given=given)


def _check_unsampled(multiplicities: Any) -> None:
    if not (isinstance(multiplicities, str) and multiplicities == "auto"):
        raise UnsupportedModelError("every row counts once: the trees drew no samples")
