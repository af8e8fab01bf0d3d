"""The authors' own runs, when they are at hand."""

from __future__ import annotations

import csv
from typing import TypeAlias

from glassleak.papers._reference import MissingReferenceError, reference_file
from glassleak.papers.uncertainty._setting import PUBLISHED_NAMES, Run

RUNS_FILE = "uncertainty_sklearn_tree_compas_published.csv"
PublishedRuns: TypeAlias = dict[tuple[str, str, int, float, int], float]


def published_runs() -> PublishedRuns | None:
    """Dist_G of the authors' runs, if ``GLASSLEAK_REFERENCE`` says where they are."""
    found = reference_file(RUNS_FILE)
    if found is None:
        return None
    try:
        with found.open(encoding="utf-8", newline="") as file:
            return {
                (line["dataset"], line["method"], int(line["random_state_value"]),
                 float(line["min_support"]), int(line["max_depth"])):
                float(line["entropy_reduction_ratio"])
                for line in csv.DictReader(file)
            }  # fmt: skip
    except (KeyError, ValueError) as error:
        raise MissingReferenceError(f"{found.name} is not the authors' file: {error}") from None


def same_as(published: PublishedRuns, run: Run) -> float | None:
    """The authors' figure for the same model."""
    name = PUBLISHED_NAMES[run.learner]
    return published.get((run.dataset, name, run.seed, run.min_support, run.max_depth))
