"""Which runs each table and figure needs, quick and in full."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from glassleak.papers._paper import Options
from glassleak.papers.forests._setting import (
    DATASETS,
    DEPTHS,
    SEEDS,
    TIGHTER,
    TREES,
    Formulation,
    Run,
)

TABLE_3_TREES = (1, 10, 30, 50, 80, 100)
QUICK_TREES = (1, 10, 100)
QUICK_COMPAS_TREES = (1, 5, 10, 50, 100)
SCALING_ROWS = {
    "compas": (25, 50, 100, 200, 300, 400, 500, 750, 1000, 1500),
    "adult": (25, 50, 100, 200, 300, 400, 500, 750),
    "default_credit": (25, 50, 100, 200, 300, 400, 500),
}
# The published formulations take minutes where ours takes a fraction of a second: only forests
# they can handle in the time allowed are worth running again.
ROWS_TREES = {"quick": (1, 5), "full": (1, 5, 10, 20)}
PUBLISHED: tuple[Formulation, ...] = ("rows-cp", "rows-milp")

BUDGET_SECONDS = {"quick": 5.0, "full": 60.0}
# Shallow forests leave most to search: without enough time there is no table at all.
SHALLOW_DEPTH, SHALLOW_BUDGET_SECONDS = 4, {"quick": 10.0, "full": 120.0}
ROWS_BUDGET_SECONDS = {"quick": 10.0, "full": 120.0}


def budget_of(run: Run, options: Options) -> float:
    """Seconds allowed for a run."""
    if options.budget_seconds is not None:
        return options.budget_seconds
    if run.formulation in PUBLISHED:
        return ROWS_BUDGET_SECONDS[options.preset]
    shallow = run.max_depth is not None and run.max_depth <= SHALLOW_DEPTH
    return (SHALLOW_BUDGET_SECONDS if shallow else BUDGET_SECONDS)[options.preset]


def seeds_of(options: Options) -> tuple[int, ...]:
    return SEEDS if options.preset == "full" else SEEDS[:1]


def table_2(options: Options) -> list[Run]:
    """100 trees, every depth."""
    return _both([Run(d, depth, 100) for d in DATASETS for depth in DEPTHS], options)


def table_3(options: Options) -> list[Run]:
    """No maximum depth, several numbers of trees."""
    return _both([Run(d, None, trees) for d in DATASETS for trees in TABLE_3_TREES], options)


def figure_2(options: Options) -> list[Run]:
    """Every depth and number of trees, and guessing."""
    trees = TREES if options.preset == "full" else QUICK_TREES
    runs = _both([Run(d, depth, t) for d in DATASETS for depth in DEPTHS for t in trees], options)
    return runs + _guesses(DATASETS, options)


def figure_4(options: Options) -> list[Run]:
    """COMPAS under all three formulations, and guessing."""
    return table_5(options) + _guesses(("compas",), options)


def table_5(options: Options) -> list[Run]:
    """COMPAS under all three formulations."""
    trees = TREES if options.preset == "full" else QUICK_COMPAS_TREES
    runs = [Run("compas", depth, t) for depth in DEPTHS for t in trees]
    if not options.ours_only:
        runs += [
            Run("compas", depth, t, formulation=formulation)
            for formulation in PUBLISHED
            for depth in DEPTHS
            for t in ROWS_TREES[options.preset]
        ]
    return list(_seeded(runs, options))


def scaling(dataset: str, options: Options) -> list[Run]:
    """100 trees without a limit, more and more rows."""
    return _both([Run(dataset, None, 100, n_rows=n) for n in SCALING_ROWS[dataset]], options)


def _guesses(chosen: tuple[str, ...], options: Options) -> list[Run]:
    return list(_seeded([Run(d, None, 0, formulation="random") for d in chosen], options))


def _both(runs: list[Run], options: Options) -> list[Run]:
    """Each run under the paper's convention and, where it differs, under the dataset's schema."""
    return [
        version
        for run in _seeded(runs, options)
        for version in ((run, tight(run)) if run.dataset in TIGHTER else (run,))
    ]


def tight(run: Run) -> Run:
    """The same run with the dataset's own schema."""
    return dataclasses.replace(run, schema="tight")


def _seeded(runs: list[Run], options: Options) -> Iterator[Run]:
    for run in runs:
        for seed in seeds_of(options):
            yield dataclasses.replace(run, seed=seed)
