"""What a sanitised copy keeps, and what may change for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from glassleak.errors import SanitiseError
from glassleak.schema import Schema

LABELS = frozenset({"predict", "apply", "decision_path"})
SCORES = frozenset({"predict_proba", "predict_log_proba", "decision_function"})


@dataclass(frozen=True)
class Options:
    """What `sanitise` is asked for.

    Attributes
    ----------
    keep : tuple of str
        Methods whose answers must not change: ``"predict"``, and also ``"predict_proba"`` (or
        ``"predict_log_proba"``, ``"decision_function"``) to keep scores, ``"apply"`` or
        ``"decision_path"`` to keep every leaf.
    min_people : int, optional
        Merge leaves of fewer people.
    suppress_below : int, optional
        Set the share of a class to 0 in leaves where fewer rows stand behind it.
    round_to : int, optional
        Class shares become multiples of 1 / `round_to`.
    trees : int, optional
        Keep the first so many trees.
    missing_values : bool
        Whether answers for rows with missing values must stay, too.  Where they go tells, of every
        split, which side held more training rows.
    schema : Schema, optional
        Only rows it allows, without missing values, need the same answers.
    """

    keep: tuple[str, ...] = ("predict",)
    min_people: int | None = None
    suppress_below: int | None = None
    round_to: int | None = None
    trees: int | None = None
    missing_values: bool = True
    schema: Schema | None = None

    def __post_init__(self) -> None:
        given: Any = self.keep
        if isinstance(given, str) or not isinstance(given, Iterable):
            given = (given,)
        names = tuple(dict.fromkeys(given))
        unknown = [n for n in names if n not in LABELS | SCORES]
        if unknown or not names:
            raise SanitiseError(
                f"keep={self.keep!r}: expected some of {', '.join(sorted(LABELS | SCORES))}"
            )
        object.__setattr__(self, "keep", names)
        for name in ("min_people", "suppress_below", "round_to", "trees"):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise SanitiseError(f"{name} must be a whole number of at least 1, got {value!r}")

    @property
    def keeps_scores(self) -> bool:
        """Whether more than the predicted label must stay."""
        return bool(SCORES & set(self.keep))

    @property
    def keeps_leaves(self) -> bool:
        """Whether the numbers of leaves and nodes on the way must stay."""
        return bool({"apply", "decision_path"} & set(self.keep))

    @property
    def changes(self) -> bool:
        """Whether anything was asked for that may change predictions."""
        return any(
            v is not None for v in (self.min_people, self.suppress_below, self.round_to, self.trees)
        )
