"""How uncertain does the training set remain, given the model?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pandas as pd

from glassleak.errors import SchemaError
from glassleak.knowledge import Known, separate_trees
from glassleak.models import Exact, Forest, Model, MultiwayTree, RuleList, Tree
from glassleak.schema import Numeric, Ordinal, Schema
from glassleak.uncertainty import _measures as measures
from glassleak.uncertainty import _tables as tables
from glassleak.uncertainty._dataset import ProbabilisticDataset
from glassleak.uncertainty._groups import Groups, count_groups
from glassleak.uncertainty._noisy import flagged, is_hidden, likely_model, together
from glassleak.uncertainty._result import Uncertainty

Progress: TypeAlias = Callable[[str, float], None]

_INFERRED = (
    "which profiles are possible was inferred from the model alone; where there was doubt, more "
    "were taken to be possible"
)
_SAMPLE = (
    "the tree was trained on rows drawn with repetition: the figures are about the people who were "
    "drawn, and their classes are left out"
)
_NO_GROUPS = "groups of people: not assessed for several trees or models together"
_NOISY_GROUPS = "groups of people: not assessed, since noise hides how many people a leaf holds"
_OTHER_DATA = (
    "the data given are not the training table: {rows:,} rows, of which leaves hold other numbers "
    "than the model says"
)


def uncertainty(
    model: Model | Sequence[Model],
    schema: Schema | None = None,
    *,
    columns_independent: bool = False,
    data: pd.DataFrame | None = None,
    by: str | Sequence[str] | None = None,
    known: Known | None = None,
    budget_seconds: float = 60,
    seed: int = 0,
    progress: Progress | None = None,
) -> Uncertainty:
    """How many tables the model leaves possible, as bits that remain to be guessed.

    Parameters
    ----------
    model : Tree, RuleList or Forest, or several models of the same data
        With the number of training rows per leaf or rule.
    schema : Schema, optional
        Which profiles are possible.  Inferred from the model when not given.  Numeric attributes
        need a resolution: a continuous value has no number of possibilities.
    columns_independent : bool
        Take every column as an attribute of its own, as the paper does: one-hot columns then count
        combinations nobody can have.  `Uncertainty.conventions` has both.
    data : DataFrame, optional
        The training table, to see which groups of people are more exposed than others.
    by : str or sequence of str, optional
        Columns of `data` that make the groups; by default every column with few values.
    known : Known, optional
        What else the adversary knows.
    budget_seconds : float
        When it ends, bounds are returned and ``exact`` is False.
    seed : int
        For estimates by sampling (forests, several models).
    progress : callable, optional
        ``progress(step, share_done)``; raise from it to cancel.

    Returns
    -------
    Uncertainty

    Raises
    ------
    SchemaError
        The schema does not fit, or an attribute has no finite number of values.
    UnsupportedModelError
        It is not published how many rows a leaf or rule holds.
    InconsistentModelError
        A leaf or rule holds rows but no possible profile.

    Examples
    --------
    >>> import glassleak as gl
    >>> from glassleak.models import Condition, Exact, Rule, RuleList
    >>> rules = RuleList(  # Rule List 1 of the paper
    ...     ("a1", "a2", "a3"),
    ...     (0, 1),
    ...     (
    ...         Rule((Condition(0, low=0.5), Condition(1, low=0.5)), 1),
    ...         Rule((Condition(2, low=0.5),), 0),
    ...         Rule((), 1),
    ...     ),
    ...     Exact([[0, 2], [2, 0], [0, 1]]),
    ... )
    >>> u = gl.uncertainty(rules, gl.Schema([gl.Binary(f"a{i}") for i in (1, 2, 3)]))
    >>> u
    <Uncertainty: 6.75489 of 15 bits remain (dist_g 0.450326), 5 rows, exact>
    """
    started = time.monotonic()
    if not budget_seconds > 0:
        raise ValueError(f"budget_seconds must be positive, got {budget_seconds!r}")
    models = list(model) if isinstance(model, Sequence) else [model]
    for one in models:
        if not isinstance(one, Tree | Forest | RuleList | MultiwayTree):
            raise TypeError(
                f"expected a model as glassleak.read returns it, got {type(one).__name__}"
            )
    notes: tuple[str, ...] = ()
    if schema is None:
        if len(models) != 1:
            raise SchemaError("several models need a schema")
        schema, notes = _inferred(models[0])
    trees = separate_trees(models[0]) if len(models) == 1 else None
    if trees is not None and (known is None or known == Known()):
        each = [
            uncertainty(
                tree, schema, columns_independent=columns_independent, data=data,
                budget_seconds=budget_seconds / len(trees), progress=progress,
            )
            for tree in trees
        ]  # fmt: skip
        found = together(each, time.monotonic() - started)
        return replace(found, notes=notes + found.notes)
    single = _single(models)
    if single is None or (known is not None and known != Known()):
        from glassleak.uncertainty.joint import joint_uncertainty

        found = joint_uncertainty(
            models, schema, columns_independent=columns_independent, known=known,
            budget_seconds=budget_seconds, seed=seed, progress=progress,
        )  # fmt: skip
        if data is not None:
            notes += (_NO_GROUPS,)
        return replace(found, notes=notes + found.notes)
    question = _Question(single, schema, columns_independent, started, budget_seconds, progress)
    if is_hidden(single):
        return _estimated(question, data, notes)
    return _answer(question, data, [by] if isinstance(by, str) else by, notes)


def _inferred(model: Model) -> tuple[Schema, tuple[str, ...]]:
    """The schema a model alone suggests, and what that leaves in doubt."""
    if isinstance(model, MultiwayTree):  # such a tree names the levels of every column
        named = zip(model.columns, model.levels, strict=True)
        return Schema([Ordinal(column, 0, len(levels) - 1) for column, levels in named]), ()
    schema = Schema.infer(model.split_evidence())
    return schema, (_INFERRED, *_guessed_ranges(schema))


def _guessed_ranges(schema: Schema) -> tuple[str, ...]:
    """A model shows a number's thresholds and not its range."""
    names = [a.name for a in schema if isinstance(a, Ordinal | Numeric)]
    if not names:
        return ()
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    note = (
        f"the range of {names[0]!r}{more} was taken from the model's thresholds and is wider in "
        "truth: more is uncertain than these figures say, with and without the model"
    )
    return (note,)


def _single(models: Sequence[Model]) -> Tree | RuleList | None:
    """The one tree or rule list there is, if there is one."""
    if len(models) != 1:
        return None
    (model,) = models
    if isinstance(model, Forest):
        alone = len(model.trees) == 1 and model.bagging.kind == "none"
        return model.trees[0] if alone else None
    return model if isinstance(model, Tree | RuleList) else None


@dataclass(frozen=True)
class _Question:
    model: Tree | RuleList
    schema: Schema
    columns_independent: bool
    started: float
    budget_seconds: float
    progress: Progress | None

    def count(self, *, apart: bool, share: float) -> Groups:
        """The groups under one convention, with a share of the budget."""
        schema = measures.columns_apart(self.schema) if apart else self.schema
        step = "counting profiles" + (" with columns apart" if apart else "")

        def report(done: float) -> None:
            if self.progress is not None:
                self.progress(step, done)

        report(0.0)
        deadline = self.started + share * self.budget_seconds
        return count_groups(self.model, schema, deadline=deadline, progress=report)


def _answer(
    question: _Question,
    data: pd.DataFrame | None,
    by: Sequence[str] | None,
    notes: tuple[str, ...],
) -> Uncertainty:
    chosen = question.columns_independent
    groups = question.count(apart=chosen, share=0.7)
    differ = measures.columns_apart(question.schema).attributes != question.schema.attributes
    other = question.count(apart=not chosen, share=1.0) if differ else groups
    leaves = tables.per_leaf(groups)
    if isinstance(question.model, Tree) and groups.class_rows is None:
        notes += _sampled(question.model)
    grouped = None
    if data is not None:
        grouped = tables.by_group(groups, leaves, data, by)
        line = tables.leaf_of_rows(groups, data)
        counted = pd.Series(line).value_counts().reindex(range(len(groups)), fill_value=0)
        if counted.tolist() != groups.rows.tolist():
            notes += (_OTHER_DATA.format(rows=len(data)),)
    main = measures.ordered(groups)
    return Uncertainty(
        status="exact" if groups.exact and groups.shares_exact else "bounded",
        method=_method(groups),
        seconds=time.monotonic() - question.started,
        n_rows=int(groups.rows.sum()),
        n_profiles=groups.n_profiles,
        columns_independent=chosen,
        ordered=main,
        unordered=measures.unordered(groups),
        unordered_by_class=measures.unordered_by_class(groups),
        dist=measures.dist(groups),
        per_leaf=leaves,
        exposure=tables.exposure(leaves),
        by_group=grouped,
        conventions=_conventions(*((other, groups) if chosen else (groups, other))),
        dataset=ProbabilisticDataset(groups),
        notes=notes,
        details={"parts_solved": 0 if groups.counter is None else groups.counter.nodes},
    )


def _estimated(
    question: _Question, data: pd.DataFrame | None, notes: tuple[str, ...]
) -> Uncertainty:
    """For noisy counts: what the most likely ones leave, flagged as an estimate."""
    noisy, apart = question.model, question.columns_independent

    def count(model: Tree | RuleList) -> Groups:
        return replace(question, model=model).count(apart=apart, share=0.3)

    likely = replace(question, model=likely_model(noisy, count))
    if data is not None:
        notes += (_NOISY_GROUPS,)
    found = _answer(likely, None, None, notes)
    return flagged(found, noisy, likely.count(apart=apart, share=1.0))


def _sampled(tree: Tree) -> tuple[str, ...]:
    if not isinstance(tree.counts, Exact) or tree.distinct_rows is None:
        return ()
    return (_SAMPLE,) if bool((tree.counts.totals != tree.distinct_rows).any()) else ()


def _method(groups: Groups) -> str:
    if isinstance(groups.model, Tree):
        return "product of what remains of each attribute, leaf by leaf"
    if groups.exact:
        return "exact count of the profiles each rule captures"
    return "bounds on the profiles each rule captures: the budget ended"


def _conventions(valid: Groups, apart: Groups) -> pd.DataFrame:
    """Both ways of counting profiles, side by side."""
    lines = []
    for groups in (valid, apart):
        found, free = measures.ordered(groups), measures.unordered(groups)
        lines.append({
            "profiles": groups.n_profiles, "bits": found.bits, "bits_low": found.low,
            "bits_high": found.high, "bits_uninformed": found.uninformed,
            "dist": measures.dist(groups), "dist_g": found.share,
            "dist_g_unordered": free.share, "exact": found.exact and groups.shares_exact,
        })  # fmt: skip
    return pd.DataFrame(lines, index=["valid profiles", "independent columns"]).astype(
        {"profiles": object}
    )
