"""What `glassleak.disclosure` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from glassleak.disclosure._certificate import Certificate
from glassleak.disclosure._measures import divergence
from glassleak.disclosure._metrics import Overall
from glassleak.models import Label

Status = Literal["optimal", "local", "partial"]


@dataclass(frozen=True, eq=False, repr=False)
class Disclosure:
    """What a published model says about the people one knows.

    Attributes
    ----------
    posterior : DataFrame
        P(class | QI): the most unbiased estimate.  One line per distinct quasi-identifier (QI), in
        order of first appearance and indexed by its values; one column per class.
    without_split_facts : DataFrame
        The same for an adversary who does not know how the learner chose its splits.
    bounds : DataFrame or None
        How many people of each QI have each class at least and at most (columns
        ``(class, "least")`` and ``(class, "most")``), whatever else is unknown: proved.
    per_quasi_identifier, per_person : DataFrame
        Most likely value and its probability, uncertainty, and so on, for each QI and for each
        line of the table given.
    overall : Overall
    certificate : Certificate
        Whether the estimate is the maximum, with how much doubt.
    assumptions : tuple of str
        What was used, what was left out, and why.
    level : "labels", "rates" or "counts"
    sensitive : str
        What the class is called.
    status : "optimal", "local" or "partial"
        "partial" if the budget ended before every fact was satisfied.
    exact : bool
        Whether the estimate is proved to be the maximum (to six digits per person); never when the
        published counts carry noise.
    seconds : float
    """

    posterior: pd.DataFrame
    without_split_facts: pd.DataFrame
    bounds: pd.DataFrame | None
    per_quasi_identifier: pd.DataFrame
    per_person: pd.DataFrame
    overall: Overall
    certificate: Certificate
    assumptions: tuple[str, ...]
    level: str
    sensitive: str
    status: Status
    exact: bool
    seconds: float
    true_shares: pd.DataFrame | None = None

    def __repr__(self) -> str:
        return (
            f"<Disclosure: {self.overall.people:,} people, {self.overall.quasi_identifiers:,} QIs; "
            f"{self.overall.likely:,} with 90 % or more; {self.certificate}>"
        )

    @property
    def classes(self) -> tuple[Label, ...]:
        return tuple(self.posterior.columns)

    def top_effects(self, k: int = 10) -> pd.DataFrame:
        """The QIs about which split facts say most (Figures 7 and 8).

        With truth given: how much closer to it the estimate comes (individual divergence without
        minus with split facts).  Otherwise: how far the estimate moves.

        Returns
        -------
        DataFrame
            ``difference`` (largest first), ``with_split_facts``, ``without_split_facts`` (the
            divergences, with truth given) and ``mean_of_top``: the average difference down to here.
        """
        ours, plain = self.posterior.to_numpy(), self.without_split_facts.to_numpy()
        if self.true_shares is not None:
            truth = self.true_shares.to_numpy()
            near, far = divergence(truth, ours), divergence(truth, plain)
            with np.errstate(invalid="ignore"):
                difference = np.where(np.isfinite(far), far - near, 0.0)
            columns = {"with_split_facts": near, "without_split_facts": far}
        else:
            difference, columns = divergence(ours, plain), {}
        order = np.argsort(-difference, kind="stable")[: max(0, k)]
        table = pd.DataFrame(
            {"difference": difference, **columns}, index=self.posterior.index
        ).iloc[order]
        table["mean_of_top"] = table["difference"].cumsum() / np.arange(1, len(table) + 1)
        return table

    def to_document(self) -> dict[str, Any]:
        """The summary as JSON-ready data; people are in the tables, not here."""
        return {
            "status": self.status,
            "exact": self.exact,
            "level": self.level,
            "sensitive": self.sensitive,
            "classes": list(self.classes),
            "overall": self.overall.to_document(),
            "lower_divergence_means": "more disclosure",
            "certificate": self.certificate.to_document(),
            "assumptions": list(self.assumptions),
            "seconds": round(self.seconds, 3),
        }
