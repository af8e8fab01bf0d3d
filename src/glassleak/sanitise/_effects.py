"""What each way of sanitising a model does to its predictions and to its audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from glassleak.audit import Audit, Policy, audit
from glassleak.errors import SanitiseError, UnsupportedModelError
from glassleak.sanitise._estimators import fitted_trees
from glassleak.sanitise._options import Options
from glassleak.sanitise._probe import Agreement, agreement, last_step
from glassleak.sanitise._sanitise import sanitised
from glassleak.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str], None]
AS_IT_IS = "as it is"
_FEWER = 10


@dataclass(frozen=True)
class Effect:
    """One line of the table.

    Attributes
    ----------
    option : str
        In words.
    predictions : str
        ``"identical"``, or how many answers differ.
    how : str
        How that is known.
    changed : float
        Share of answers that differ.
    accuracy : float or None
        On the table given.
    accuracy_on : str
        What that table was to this model.
    verdict : str
    reasons : tuple of str
    leaves : str
        What leaves still say.
    certain_rows, rows : int or None
        Training rows that are proved, of how many; ``None``: not assessed.
    certain_by_labels : int or None
        Without counts: combinations of values and class that must have occurred.
    remaining : float or None
        Share of the uncertainty about the training table that remains.
    remains : str
        What is still given away, in one line.
    """

    option: str
    predictions: str
    how: str
    changed: float
    accuracy: float | None
    accuracy_on: str
    verdict: str
    reasons: tuple[str, ...]
    leaves: str
    certain_rows: int | None
    rows: int | None
    certain_by_labels: int | None
    remaining: float | None
    remains: str

    def to_document(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self) | {"reasons": list(self.reasons)}


@dataclass(frozen=True)
class Setting:
    """What every line of the table is computed with.

    Attributes
    ----------
    table : DataFrame, optional
        Rows to predict, in the model's columns.
    truth : array, optional
        Their classes.
    policy : Policy
    budget_seconds : float
        Of each audit.
    seed : int
    schema : Schema, optional
        Which profiles are possible, for every audit.
    """

    table: pd.DataFrame | None = None
    truth: Any = None
    policy: Policy = field(default_factory=Policy)
    budget_seconds: float = 20.0
    seed: int = 0
    schema: Any = None


def standard_options(
    estimator: Any, min_people: int = 10, schema: Schema | None = None
) -> dict[str, Options]:
    """The ways worth comparing for this model, in words.

    With a `schema` one of them keeps the answers for rows it allows only.
    """
    out = {
        "without bookkeeping (keeps probabilities)": Options(("predict", "predict_proba")),
        "what labels need": Options(("predict",)),
    }
    inner = last_step(estimator)
    if type(inner).__module__.startswith("glassleak."):
        return {"what labels need": Options(("predict",))}
    out |= {
        f"leaves under {min_people} people merged": Options(min_people=min_people),
        f"classes under {min_people} rows suppressed": Options(suppress_below=min_people),
        "shares rounded to tenths": Options(("predict", "predict_proba"), round_to=10),
    }
    trees = len(fitted_trees(inner))
    if schema is not None and trees > 1:
        out["what labels need, within the schema"] = Options(("predict",), schema=schema)
    few = max(1, trees // _FEWER)
    if few < trees:
        out[f"{few} of {trees} trees"] = Options(trees=few)
        out[f"{few} trees, leaves under {min_people} merged"] = Options(
            trees=few, min_people=min_people
        )
    return out


def effects(
    estimator: Any,
    options: Mapping[str, Options] | None = None,
    setting: Setting | None = None,
    progress: Progress | None = None,
) -> Iterator[Effect]:
    """The model as it is and under every option: predictions and audit, one line each.

    Raises
    ------
    SanitiseError
        A copy that should predict the same does not: a defect of glassleak, found by checking.
    """
    setting = setting or Setting()
    tell = progress or (lambda _: None)
    tell(AS_IT_IS)
    yield effect(AS_IT_IS, estimator, estimator, setting, "nothing was changed", "as trained")
    for words, asked in (options or standard_options(estimator, schema=setting.schema)).items():
        tell(words)
        try:
            made = sanitised(estimator, asked)
        except SanitiseError as error:
            yield _impossible(words, str(error))
            continue
        yield effect(
            words, estimator, made.estimator, setting, made.same, made.leaves, asked.schema
        )


def _impossible(words: str, why: str) -> Effect:
    return Effect(
        words, "not possible", why, 0.0, None, "", "not assessed", (), "", None, None, None, None,
        why,
    )  # fmt: skip


def effect(
    words: str,
    original: Any,
    copied: Any,
    setting: Setting,
    same: str,
    leaves: str,
    schema: Schema | None = None,
) -> Effect:
    """One line: `copied` against `original`."""
    found = agreement(original, copied, setting.table, setting.seed, schema)
    if same and not found.identical:
        raise SanitiseError(
            f"{words}: {found.different} of {found.inputs} inputs get another answer, though none "
            "should; please report this"
        )
    predictions, how = _words(found, same)
    accuracy = None
    if setting.table is not None and setting.truth is not None:
        accuracy = float(np.mean(np.asarray(copied.predict(setting.table)) == setting.truth))
    outcome = audit_of(copied, setting)
    return Effect(
        words, predictions, how, found.share, accuracy, "the table given", leaves=leaves,
        **from_audit(outcome),
    )  # fmt: skip


def audit_of(model: Any, setting: Setting) -> Audit:
    """The audit of one version, from the model alone, as a stranger would do it."""
    return audit(
        model,
        schema=setting.schema,
        policy=setting.policy,
        budget_seconds=setting.budget_seconds,
        seed=setting.seed,
    )


def from_audit(outcome: Audit) -> dict[str, Any]:
    """What the table shows of an audit."""
    evidence = {f.id: f.evidence for f in outcome.findings}
    rows = evidence.get("reconstruction.rows", {})
    left = evidence.get("uncertainty.remaining", {})
    labels = evidence.get("presence.labels", {})
    reasons = tuple(r.text for r in outcome.reasons)
    telling = [r.text for r in outcome.reasons if r.finding == "presence.labels"]
    return {
        "verdict": outcome.verdict,
        "reasons": reasons,
        "certain_rows": rows.get("certain_rows"),
        "rows": rows.get("rows"),
        "certain_by_labels": labels.get("certain"),
        "remaining": left.get("share_remaining"),
        "remains": (telling or list(reasons) or ["nothing the policy forbids"])[0],
    }


def _words(found: Agreement, same: str) -> tuple[str, str]:
    checked = f"checked on {found.inputs:,} inputs around the thresholds"
    if found.rows:
        checked += f" and {found.rows:,} rows"
    if same:
        words = "identical" if found.scores is not False else "labels identical"
        return words, f"{same}; {checked}"
    if found.rows:
        share = f"{found.different_rows:,} of {found.rows:,} answers differ"
    else:
        share = f"{found.share:.1%} of answers differ"
    return ("none differs" if found.identical else share), checked


def retrained(
    table: pd.DataFrame, truth: Any, epsilon: float, kind: str = "rules", schema: Any = None
) -> Any:
    """A differentially private model of the same table.

    Parameters
    ----------
    table : DataFrame
        Zeros and ones, unless `schema` says what values there can be.
    truth : array
    epsilon : float
    kind : "rules", "tree" or "forest"
    schema : Schema, optional
    """
    from glassleak.learners import private

    kinds = {
        "rules": private.PrivateRuleListClassifier,
        "tree": private.PrivateTreeClassifier,
        "forest": private.PrivateForestClassifier,
    }
    if kind not in kinds:
        raise SanitiseError(f"no private model of kind {kind!r}: rules, tree or forest")
    try:
        return kinds[kind](epsilon, schema=schema).fit(table, truth)
    except ValueError as error:
        raise SanitiseError(f"retraining privately: {error}") from None


def private_effect(
    original: Any, epsilon: float, setting: Setting, kind: str = "rules", schema: Any = None
) -> Effect:
    """The line about a private model, whose accuracy is measured on a fifth it did not see."""
    if setting.table is None or setting.truth is None:
        raise UnsupportedModelError("retraining privately needs the training table and its classes")
    order = np.random.default_rng(setting.seed).permutation(len(setting.table))
    out, fit = order[: len(order) // 5], order[len(order) // 5 :]
    truth = np.asarray(setting.truth)
    if not len(out):
        raise SanitiseError("too few rows to hold any out")
    model = retrained(setting.table.iloc[fit], truth[fit], epsilon, kind, schema)
    answers = np.asarray(model.predict(setting.table.iloc[out]))
    before = np.asarray(original.predict(setting.table.iloc[out]))
    changed = float(np.mean(answers != before))
    return Effect(
        f"retrained privately, ε = {epsilon:g} ({kind})",
        f"{changed:.1%} of answers differ",
        f"on {len(out):,} rows held out",
        changed,
        float(np.mean(answers == truth[out])),
        "a fifth held out from training",
        leaves="noisy counts",
        **from_audit(audit_of(model, setting)),
    )
