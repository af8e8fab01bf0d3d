"""The authors' own runs, when they are at hand."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TypeAlias

from glassleak.errors import GlassleakError
from glassleak.papers.uncertainty._setting import PUBLISHED_NAMES, Run

REFERENCE = "GLASSLEAK_REFERENCE"
RUNS_FILE = "uncertainty_sklearn_tree_compas_published.csv"
PublishedRuns: TypeAlias = dict[tuple[str, str, int, float, int], float]


class MissingReferenceError(GlassleakError):
    """``GLASSLEAK_REFERENCE`` is set, and the authors' runs are not there."""


def published_runs() -> PublishedRuns | None:
    """Dist_G of the authors' runs, if ``GLASSLEAK_REFERENCE`` says where they are.

    It names the file itself, the folder it is in, or a folder with ``reference/`` in it.
    """
    root = os.environ.get(REFERENCE)
    if not root:
        return None
    places = (Path(root), Path(root) / RUNS_FILE, Path(root) / "reference" / RUNS_FILE)
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise MissingReferenceError(f"{REFERENCE} is set, but there is no {RUNS_FILE} there")
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
