"""What P(sensitive value | person) means for each person, and for all of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from glassleak.disclosure._measures import Floats, divergence, entropy
from glassleak.disclosure._people import People
from glassleak.models import Label

# Probabilities this close to 1 (or 0) are taken as such: estimates are computed, not exact.
_CLOSE = 1e-6
LIKELY = 0.9


@dataclass(frozen=True)
class Overall:
    """The estimate in a few numbers.  Logarithms are natural; people count, not QIs.

    Attributes
    ----------
    people, quasi_identifiers, classes : int
    entropy : float
        H(X | Q): nats of uncertainty about the sensitive value that remain per person.
    effective_values : float
        ``exp(entropy)``: as uncertain as so many equally likely values.
    likely : int
        People whose most likely value has a probability of 90 % or more.
    sure : int
        People whose most likely value has a probability of 100 %.
    certain : int, optional
        People whose value is the same in *every* table that fits: proved, not estimated.
    likely_right, likely_wrong, sure_right, sure_wrong : int, optional
        Those of whom that value is, or is not, the true one; with truth given.
    d_overall : float, optional
        Divergence of the truth from the estimate (Section 5), with truth given.  LOWER means that
        the estimate is closer to the truth: MORE is disclosed.
    d_overall_without_split_facts : float, optional
        The same for the estimate that leaves split facts out.
    distinct_l, entropy_l : float
        Least l-diversity of any QI: possible values, and ``exp`` of the least entropy.
    alpha : float
        Largest probability of any value: with `k`, (α, k)-anonymity.
    k : int
        Fewest people who share a QI.
    t : float
        Largest total variation distance between a QI's distribution and everybody's: t-closeness.
    """

    people: int
    quasi_identifiers: int
    classes: int
    entropy: float
    effective_values: float
    likely: int
    sure: int
    distinct_l: int
    entropy_l: float
    alpha: float
    k: int
    t: float
    certain: int | None = None
    likely_right: int | None = None
    likely_wrong: int | None = None
    sure_right: int | None = None
    sure_wrong: int | None = None
    d_overall: float | None = None
    d_overall_without_split_facts: float | None = None

    def to_document(self) -> dict[str, Any]:
        """As JSON-ready data; an infinite divergence as text."""
        return {
            name: str(value) if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in asdict(self).items()
        }


def true_shares(people: People, truth: npt.NDArray[np.int64], n_classes: int) -> Floats:
    """P(class | QI) in the real table."""
    counts = np.zeros((len(people), n_classes))
    np.add.at(counts, (people.of_line, truth), people.in_line)
    out: Floats = counts / people.number[:, None]
    return out


def per_quasi_identifier(
    people: People, posterior: Floats, classes: tuple[Label, ...], shares: Floats | None
) -> pd.DataFrame:
    """One line per QI, in the order of `people`."""
    nats = entropy(posterior)
    everybody = people.number @ posterior / people.total
    best = np.argmax(posterior, axis=1)
    out = pd.DataFrame(
        {
            "people": people.number,
            "most_likely": [classes[i] for i in best],
            "probability": posterior.max(axis=1),
            "entropy": nats,
            "effective_values": np.exp(nats),
            "possible_values": (posterior > _CLOSE).sum(axis=1),
            "distance_from_everybody": np.abs(posterior - everybody).sum(axis=1) / 2,
        }
    )
    if shares is not None:
        out["divergence"] = divergence(shares, posterior)
    return out


def per_line(
    people: People,
    per_qi: pd.DataFrame,
    posterior: Floats,
    certain: npt.NDArray[np.int64] | None,
    classes: tuple[Label, ...],
    truth: npt.NDArray[np.int64] | None,
) -> pd.DataFrame:
    """One line per line given, with its index."""
    of = people.of_line
    out = per_qi.iloc[of].reset_index(drop=True)
    out.insert(0, "quasi_identifier", of)
    out["people"] = people.in_line
    if certain is not None:
        values = np.array([*classes, None], dtype=object)
        out["certain_value"] = values[certain[of]]
    if truth is not None:
        out["true_value"] = [classes[i] for i in truth]
        out["probability_of_truth"] = posterior[of, truth]
        out["right"] = np.argmax(posterior, axis=1)[of] == truth
    out.index = people.index
    return out


def overall(
    people: People,
    per_qi: pd.DataFrame,
    posterior: Floats,
    baseline: Floats,
    certain: npt.NDArray[np.int64] | None,
    shares: Floats | None,
) -> Overall:
    """Sums and extremes over people."""
    number, total = people.number, people.total
    top = per_qi["probability"].to_numpy()
    likely, sure = top >= LIKELY, top >= 1 - _CLOSE
    nats = float(number @ per_qi["entropy"].to_numpy()) / total
    more: dict[str, Any] = {}
    if certain is not None:
        more["certain"] = int(number[certain >= 0].sum())
    if shares is not None:
        right = number * shares[np.arange(len(shares)), np.argmax(posterior, axis=1)]
        for name, some in (("likely", likely), ("sure", sure)):
            more[f"{name}_right"] = int(np.rint(right[some].sum()))
            more[f"{name}_wrong"] = int(number[some].sum()) - more[f"{name}_right"]
        more["d_overall"] = float(number @ divergence(shares, posterior)) / total
        without = float(number @ divergence(shares, baseline)) / total
        more["d_overall_without_split_facts"] = without
    return Overall(
        people=total,
        quasi_identifiers=len(people),
        classes=posterior.shape[1],
        entropy=nats,
        effective_values=float(np.exp(nats)),
        likely=int(number[likely].sum()),
        sure=int(number[sure].sum()),
        distinct_l=int(per_qi["possible_values"].min()),
        entropy_l=float(per_qi["effective_values"].min()),
        alpha=float(top.max()),
        k=int(number.min()),
        t=float(per_qi["distance_from_everybody"].max()),
        **more,
    )
