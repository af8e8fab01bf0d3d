"""Traces of how the model was chosen."""

from __future__ import annotations

from collections.abc import Iterator

from glassleak.readers._state import Visited
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._survey import Survey
from glassleak.readers.artefacts._words import is_sized


def search_histories(survey: Survey) -> Iterator[Finding]:
    """Tables of all settings tried, with their scores on parts of the training rows."""
    for visited, state in survey.held_by("cv_results_"):
        results = state.attributes["cv_results_"]
        if not is_sized(results) or not len(results):
            continue
        params = results.get("params") if isinstance(results, dict) else None
        yield Finding(
            "search-history",
            Visited(f"{visited.path}.cv_results_", results, state),
            "note",
            "The scores of every setting that was tried, on each fold of the training rows. They "
            "describe folds and not people, but say more about the data than the model alone.",
            "Release `best_estimator_` and not the search object around it.",
            {
                "settings_tried": len(params) if params is not None and is_sized(params) else None,
                "entries": len(results),
            },
        )
