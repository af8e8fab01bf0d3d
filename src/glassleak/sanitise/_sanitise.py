"""A copy of a fitted model that predicts the same and carries less."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from glassleak.errors import UnsupportedModelError
from glassleak.sanitise._coarsen import coarsest
from glassleak.sanitise._estimators import (
    BAGS,
    FORESTS,
    TREES,
    clean_bag,
    clean_forest,
    clean_tree,
    fitted_trees,
    leaf_size,
    requested,
)
from glassleak.sanitise._nodes import Nodes, majorities, merged, rounded, take_apart
from glassleak.sanitise._options import Options
from glassleak.sanitise._parts import Removed
from glassleak.sanitise._result import Sanitised, result
from glassleak.sanitise._strip import PACKAGES, parts_of, strip_rows
from glassleak.schema import Schema

_SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")


def sanitise(
    estimator: Any,
    keep: Iterable[str] = ("predict",),
    *,
    min_people: int | None = None,
    suppress_below: int | None = None,
    round_to: int | None = None,
    trees: int | None = None,
    missing_values: bool = True,
    schema: Schema | None = None,
) -> Any:
    """A copy of `estimator` that predicts the same and carries less about its training rows.

    Dropped are numbers of rows, weights, impurities and class shares of nodes that no prediction
    looks at, seeds of the ensemble and of its trees, out-of-bag votes, weights of rows, and every
    attribute prediction does not need, whatever it is called.  Leaves keep what `keep` needs.
    Unless one of the other options is given, predictions are identical for every input.

    Parameters
    ----------
    estimator : fitted scikit-learn model
        Decision trees, random forests, extra trees, bags of trees, gradient boosting, rule lists
        and trees of `glassleak.learners`, and pipelines that end in one.  A finished search gives
        a copy of its best model.  Of models of imodels and STreeD only the training rows they
        retain are taken out.
    keep : iterable of str
        Methods whose answers must stay: ``("predict",)``, or ``("predict", "predict_proba")``;
        with ``"apply"`` or ``"decision_path"`` leaves that say the same are not merged.
        With labels only, a single tree keeps one label per leaf.  Ensembles add up the shares of
        their trees and need more than labels; shares are rounded as coarsely as is *proved* to
        change no prediction, and stay as they are where that cannot be proved.
    min_people : int, optional
        Merge leaves that fewer distinct training rows reached.  Changes predictions.
    suppress_below : int, optional
        Set a class's share to 0 in leaves where fewer rows stand behind it.  Changes predictions.
    round_to : int, optional
        Round class shares to multiples of ``1 / round_to``.  May change predictions.
    trees : int, optional
        Keep only the first so many trees.  Changes predictions.
    missing_values : bool
        With False, answers for rows with missing values may change; then which side of a split
        held more rows is not told either.
    schema : Schema, optional
        What rows there can be.  Only these need the same answers, which often proves that an
        ensemble can do with far coarser leaves.

    Returns
    -------
    estimator
        Of the same class; the one given is left alone.  It can be saved and used like the
        original, but not trained further.  ``feature_importances_`` is lost (NaN).

    Raises
    ------
    UnsupportedModelError
        Of this kind no copy can be made.
    SanitiseError
        The options do not make sense for this model.

    See Also
    --------
    glassleak.audit : what the copy still gives away.

    Examples
    --------
    >>> clean = gl.sanitise(forest)  # doctest: +SKIP
    >>> gl.audit(forest).verdict, gl.audit(clean).verdict  # doctest: +SKIP
    """
    options = Options(
        keep if isinstance(keep, str) else tuple(keep),  # type: ignore[arg-type]
        min_people,
        suppress_below,
        round_to,
        trees,
        missing_values,
        schema,
    )
    return sanitised(estimator, options).estimator


def sanitised(estimator: Any, options: Options | None = None) -> Sanitised:
    """Like `sanitise`, and says what was done."""
    options = options or Options()
    kind = type(estimator)
    package = kind.__module__.partition(".")[0]
    if package == "glassleak":
        from glassleak.sanitise._own import clean_learner

        return clean_learner(estimator, options)
    if package in PACKAGES:
        return strip_rows(estimator, options)
    if package != "sklearn":
        raise UnsupportedModelError(f"a {kind.__module__}.{kind.__name__} is not sanitised")
    if kind.__name__ in _SEARCHES:
        return _best_of(estimator, options)
    if kind.__name__ == "Pipeline":
        return _pipeline(estimator, options)
    if "GradientBoosting" in kind.__name__:
        from glassleak.sanitise._boosted import clean_boosted

        return clean_boosted(estimator, options)
    if kind.__name__ in (*TREES, *FORESTS, *BAGS):
        return _trees(estimator, options)
    raise UnsupportedModelError(f"a {kind.__name__} is not sanitised")


def _trees(estimator: Any, options: Options) -> Sanitised:
    classifier = type(estimator).__name__.endswith("Classifier")
    steps = requested(options, classifier=classifier)
    last = [] if options.keeps_leaves else [merged]
    removed = Removed()

    def cleaned(more: list[Any], note: Removed) -> Any:
        name = type(estimator).__name__
        if name in TREES:
            own = leaf_size(estimator, options)
            return clean_tree(estimator, [*steps, *more, *last], note, **own)
        make = clean_forest if name in FORESTS else clean_bag
        return make(estimator, [*steps, *more, *last], options, note)

    made = cleaned([], removed)
    if not classifier:
        return result(made, options, removed, "the mean of their training rows")
    if options.keeps_scores:
        return result(made, options, removed, _share_words(options))
    if len(fitted_trees(made)) == 1:
        made = cleaned([majorities], Removed())
        return result(made, options, removed, "one label each")
    if options.suppress_below is None and _only_labels(made):
        return result(made, options, removed, "one label each: everybody they saw had that class")
    if options.round_to is not None:
        return result(made, options, removed, _share_words(options))
    found = coarsest(
        made,
        lambda k: cleaned([lambda nodes: rounded(nodes, k)], Removed()),
        options,
    )
    if found.steps is None:
        return result(made, options, removed, f"{_share_words(options)}; {found.why}")
    final = found.steps
    made = cleaned([lambda nodes: rounded(nodes, final)], Removed())
    leaves = "one label each" if final == 1 else f"class shares in steps of 1/{final}"
    return result(made, options, removed, leaves, found.why)


def _share_words(options: Options) -> str:
    if options.round_to is not None:
        return f"class shares in steps of 1/{options.round_to}"
    return "the exact share of each class"


def _only_labels(estimator: Any) -> bool:
    return all(_is_pure(take_apart(tree)) for tree, _ in fitted_trees(estimator))


def _is_pure(nodes: Nodes) -> bool:
    return bool((nodes.values[nodes.leaves].max(axis=2) == 1.0).all())


def _best_of(search: Any, options: Options) -> Sanitised:
    best = getattr(search, "best_estimator_", None)
    if best is None:
        raise UnsupportedModelError("no trained model in it", type(search).__name__)
    inner = sanitised(best, options)
    return replace(inner, removed=(*inner.removed, f"the {type(search).__name__} around the model"))


def _pipeline(pipeline: Any, options: Options) -> Sanitised:
    """Only the last step is rewritten; what steps before it keep is what they work with."""
    steps = list(pipeline.steps)
    name, last = steps[-1]
    for step, held in steps[:-1]:
        if any("tree_" in vars(part) or "_predictors" in vars(part) for part in parts_of(held)):
            # Choosing columns by importance, say, computes it anew from the counts.
            raise UnsupportedModelError(
                "holds trees of its own, with their counts, and needs them; put what it computes "
                "(the columns it chose) in its place",
                f"Pipeline.steps[{step!r}]",
            )
    inner = sanitised(last, options)
    made = copy.copy(pipeline)
    # The folder of a cache is of use in training only, and often names somebody's account.
    made.__dict__ = {k: v for k, v in vars(pipeline).items() if k != "steps"} | {"memory": None}
    made.steps = [*copy.deepcopy(steps[:-1]), (name, inner.estimator)]
    return replace(inner, estimator=made)
