"""Which rows each tree was trained on: stored seeds, stored draws, out-of-bag votes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from glassleak.readers._state import State, Visited
from glassleak.readers.artefacts._artefact import Json
from glassleak.readers.artefacts._finding import Finding
from glassleak.readers.artefacts._survey import Survey
from glassleak.readers.artefacts._words import is_sized, items

_MEMBERSHIP = (
    "An outsider can repeat the random draw and learn, for every row number, how often that row "
    "was used in each of the {trees:,} trees. Attacks that rebuild the training table become much "
    "stronger with this."
)


def bootstrap_seeds(survey: Survey) -> Iterator[Finding]:
    """Seeds with which the rows drawn for each tree can be regenerated."""
    for visited, state in survey.held_by("estimators_"):
        members = state.attributes["estimators_"]
        if isinstance(members, list | tuple) and members and _draws_rows(state):
            yield _seeds_finding(visited, state, list(members))


def _draws_rows(state: State) -> bool:
    if state.get("bootstrap") is True:
        return True
    # Bags without replacement still leave rows out when fewer are drawn than there are.
    drawn, rows = state.get("_max_samples"), state.get("_n_samples")
    return (
        state.get("bootstrap") is False
        and _is_whole(drawn)
        and _is_whole(rows)
        and (0 < drawn < rows)
    )


def _seeds_finding(visited: Visited, state: State, members: list[Any]) -> Finding:
    bag = "_seeds" in state.attributes or "_max_samples" in state.attributes
    stored = items(state.get("_seeds")) if bag else _member_seeds(members)
    seeded = sum(_is_seed(s) for s in stored)
    master = _is_seed(state.get("random_state"))
    evidence: dict[str, Json] = {
        "trees": len(members),
        "trees_with_seed": seeded,
        "own_random_state": master,
        "row_weights": isinstance(state.get("_sample_weight"), np.ndarray),
    }
    for key, name in (
        ("rows", "_n_samples"),
        ("drawn_per_tree", "_max_samples" if bag else "_n_samples_bootstrap"),
    ):
        if _is_whole(state.get(name)):
            evidence[key] = state.get(name)
    if not seeded and not master:
        return Finding(
            "bootstrap-seeds-absent",
            visited,
            "note",
            "The trees were trained on random draws of the rows, and the seeds of these draws are "
            "not in the object, so it does not tell directly which rows each tree saw.",
            "Nothing to do; keep it this way.",
            evidence,
        )
    holder = "`_seeds`" if bag else "`random_state` of every tree in `estimators_`"
    found = f"{holder} holds the seed of each draw" if seeded else (
        "`random_state` is a number from which the seeds of all draws follow"
    )  # fmt: skip
    strip = (
        "delete `_seeds` and set `random_state = None`"
        if bag
        else "set `random_state = None` on the forest *and* on every tree in `estimators_`"
    )
    return Finding(
        "bootstrap-seeds",
        visited,
        "fix",
        f"{found}. {_MEMBERSHIP.format(trees=len(members))}",
        f"After training, {strip}; predictions do not change. Doing only one of the two is not "
        "enough.",
        evidence,
        claims=(state.get("_seeds"),) if bag else (),
    )


def stored_draws(survey: Survey) -> Iterator[Finding]:
    """Lists of the rows drawn, kept outright."""
    for visited, state in survey.held_by("estimators_samples_"):
        draws = items(state.attributes["estimators_samples_"])
        kept = [d for d in draws if is_sized(d) and len(d)]
        if not kept:
            continue
        path = f"{visited.path}.estimators_samples_"
        yield Finding(
            "row-masks",
            Visited(path, state.attributes["estimators_samples_"], state),
            "fix",
            f"For each of {len(kept):,} members of the ensemble the object lists the numbers of "
            "the training rows it was fitted on: membership of every row can be read off.",
            "Delete the attribute `estimators_samples_` after training; predictions do not use it.",
            {"members": len(kept), "rows_listed_first": len(kept[0])},
            claims=tuple(kept),
        )


def out_of_bag(survey: Survey) -> Iterator[Finding]:
    """Votes of the trees that did not see a row, kept for every row."""
    for visited in survey.arrays:
        name = survey.attribute(visited)
        array = visited.value
        if (
            name not in ("oob_decision_function_", "oob_prediction_")
            or array.dtype.kind not in "fiu"
        ):
            continue
        if array.ndim == 0 or not array.size:
            continue
        flat = array.reshape(len(array), -1)
        never = np.isnan(flat).any(axis=1)
        if name == "oob_decision_function_":
            # scikit-learn's forests leave zeros, its bags NaN, where no tree could vote.
            never |= (flat == 0).all(axis=1)
        n_never = int(never.sum())
        reveals = (
            f"For each of {len(array):,} training rows, in row order, the prediction of the trees "
            "that did not see it. It says how the row differs from what the model learnt, and "
            "which rows were used by which trees."
        )
        if n_never:
            reveals += f" {n_never:,} rows have no vote: they were drawn for every tree."
        yield Finding(
            "oob-scores",
            visited,
            "fix",
            reveals,
            f"Delete `{name}` after training (the overall `oob_score_` may stay), or train with "
            "oob_score=False.",
            {"shape": list(array.shape), "dtype": str(array.dtype), "rows_in_every_bag": n_never},
        )


def _member_seeds(members: list[Any]) -> list[Any]:
    return [m.get("random_state") for m in members if isinstance(m, State)]


def _is_seed(value: Any) -> bool:
    return _is_whole(value) and 0 <= value < 2**32


def _is_whole(value: Any) -> bool:
    # Bounded, because a file may hold whole numbers too long to be written out.
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
