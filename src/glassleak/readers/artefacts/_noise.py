"""Noise that can be taken off again: the seed it was drawn with is in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from glassleak.readers._state import State
from glassleak.readers.artefacts._draws import _is_seed
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._survey import Survey


def noise_seeds(survey: Survey) -> Iterator[Finding]:
    """Seeds of private learners: with them the noise can be drawn again and subtracted."""
    for visited, state in survey.held_by("random_state"):
        if not _is_private(state):
            continue
        if _is_seed(state.get("random_state")):
            yield Finding(
                "noise-seed",
                visited,
                "fix",
                "The model was made private with noise drawn from the seed in `random_state`. "
                "Whoever has the file can draw the same noise and take it off: there is no "
                "protection left.",
                "Train again with random_state=None. Deleting the seed from this file is not "
                "enough if it is written down or easily guessed, such as 0 or 42.",
            )
        elif _drawn_with_a_seed(state):
            yield Finding(
                "noise-seed",
                visited,
                "fix",
                "By its own account (`privacy_`) the model was made private with noise drawn from "
                "a chosen seed. The seed is not in the file, but seeds are short and can be tried "
                "one by one; the right one takes the noise off.",
                "Train again with random_state=None.",
            )


def _drawn_with_a_seed(state: State) -> bool:
    told = state.get("privacy_")
    return isinstance(told, Mapping) and told.get("certified") is False


def _is_private(state: State) -> bool:
    return "noise_scale_" in state.attributes or "epsilon" in state.attributes
