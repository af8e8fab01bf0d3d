"""Arrays that describe the model and not its rows, named with the reason.

Their length can equal the number of training rows by coincidence: a tree of 7 nodes on 7 rows.
The exclusion is as narrow as can be, because a file may also carry rows under an innocent name:
lengths are checked against the number of columns and classes where the reason allows it.
"""

from __future__ import annotations

import re

from glassleak.readers._state import State

_PER_NODE = "one entry per node"
_GENERATOR = "inner state of a random generator"
_PER_WEIGHT = "one entry per weight of the network"
_CURVE = "knots and coefficients of a curve"
_OWN_TREE = frozenset({"feature_", "threshold_", "left_", "right_", "counts_"})
# (start of the module, class) -> (attributes, reason); no attributes listed means all of them.
_OWNERS: dict[tuple[str, str], tuple[frozenset[str], str]] = {
    ("sklearn.tree", "Tree"): (frozenset({"nodes", "values", "args"}), _PER_NODE),
    ("sklearn.ensemble", "TreePredictor"): (
        frozenset({"nodes", "binned_left_cat_bitsets", "raw_left_cat_bitsets"}),
        _PER_NODE,
    ),
    ("glassleak.learners", "OptimalTreeClassifier"): (_OWN_TREE, _PER_NODE),
    ("glassleak.learners", "PrivateTreeClassifier"): (_OWN_TREE, _PER_NODE),
    ("glassleak.learners", "ID3Classifier"): (
        frozenset({"feature_", "parent_", "branch_", "counts_"}),
        _PER_NODE,
    ),
    ("numpy.random", "RandomState"): (frozenset(), _GENERATOR),
    ("numpy.random", "MT19937"): (frozenset(), _GENERATOR),
    ("numpy.random", "Generator"): (frozenset(), _GENERATOR),
    ("numpy.random", "SeedSequence"): (frozenset(), _GENERATOR),
    ("numpy.random", "PCG64"): (frozenset(), _GENERATOR),
    ("numpy.random", "__randomstate_ctor"): (frozenset(), _GENERATOR),
    ("numpy.random", "__bit_generator_ctor"): (frozenset(), _GENERATOR),
    ("sklearn.neural_network", "AdamOptimizer"): (frozenset(), _PER_WEIGHT),
    ("sklearn.neural_network", "SGDOptimizer"): (frozenset(), _PER_WEIGHT),
    ("scipy.interpolate", "BSpline"): (frozenset({"_t", "_c", "t", "c"}), _CURVE),
}
_PER_COLUMN = "one entry per column"
_PER_CLASS = "one entry per class"
_PER_STEP = "one entry per tree or training step"
_PER_COMPONENT = "one entry per component of the model"
_SETTING = "a setting of the estimator"
_NAMES = {
    "classes_": _PER_CLASS, "_classes": _PER_CLASS, "class_weight_": _PER_CLASS,
    "class_count_": _PER_CLASS, "class_prior_": _PER_CLASS, "priors_": _PER_CLASS,
    "n_classes_": _PER_CLASS, "n_support_": _PER_CLASS, "_n_support": _PER_CLASS,
    "estimator_params": _SETTING, "_required_parameters": _SETTING,
    "feature_range": _SETTING, "monotonic_cst": _SETTING, "alphas": _SETTING,
    "categories_": "one entry per category", "encodings_": "one entry per category",
    "bin_thresholds_": "one entry per bin", "bin_edges_": "one entry per bin",
    "mean_": _PER_COLUMN, "var_": _PER_COLUMN, "scale_": _PER_COLUMN, "center_": _PER_COLUMN,
    "min_": _PER_COLUMN, "data_min_": _PER_COLUMN, "data_max_": _PER_COLUMN,
    "data_range_": _PER_COLUMN, "max_abs_": _PER_COLUMN, "statistics_": _PER_COLUMN,
    "variances_": _PER_COLUMN, "lambdas_": _PER_COLUMN, "scores_": _PER_COLUMN,
    "pvalues_": _PER_COLUMN, "ranking_": _PER_COLUMN, "n_bins_": _PER_COLUMN,
    "is_categorical_": _PER_COLUMN, "n_bins_non_missing_": _PER_COLUMN, "stddev": _PER_COLUMN,
    "mean": _PER_COLUMN, "importance_data_": _PER_COLUMN, "attr_names": _PER_COLUMN,
    "feature_placeholders": _PER_COLUMN, "estimators_features_": _PER_COLUMN,
    "estimator_weights_": _PER_STEP, "estimator_errors_": _PER_STEP, "train_score_": _PER_STEP,
    "validation_score_": _PER_STEP, "validation_scores_": _PER_STEP, "oob_scores_": _PER_STEP,
    "oob_improvement_": _PER_STEP, "loss_curve_": _PER_STEP, "_seeds": _PER_STEP,
    "evals_result_": _PER_STEP, "_evals_result": _PER_STEP, "cv_results_": _PER_STEP,
    "_average_path_length_per_tree": _PER_STEP, "_decision_path_lengths": _PER_STEP,
    "components_": _PER_COMPONENT, "explained_variance_": _PER_COMPONENT,
    "explained_variance_ratio_": _PER_COMPONENT, "singular_values_": _PER_COMPONENT,
    "cluster_centers_": _PER_COMPONENT, "means_": _PER_COMPONENT, "covariances_": _PER_COMPONENT,
    "precisions_": _PER_COMPONENT, "precisions_cholesky_": _PER_COMPONENT,
    "weights_": _PER_COMPONENT, "theta_": _PER_COMPONENT, "sigma_": _PER_COMPONENT,
    "feature_log_prob_": _PER_COMPONENT, "coefs_": _PER_COMPONENT, "coef": _PER_COMPONENT,
    "intercepts_": _PER_COMPONENT, "itemsets": _PER_COMPONENT, "final_itemsets": _PER_COMPONENT,
    "quantiles_": "one entry per quantile", "references_": "one entry per quantile",
}  # fmt: skip
_PATTERNS = (
    (re.compile(r"^_*feature_?names?(_in)?_*$"), _PER_COLUMN),
    (re.compile(r"^_*(feature_)?importances?_*$"), _PER_COLUMN),
    (re.compile(r"^_*(best_|dual_)?(coef|intercept)s?\w*$"), _PER_COMPONENT),
)


def structure_reason(
    name: str,
    owner: State | None,
    length: int,
    n_columns: frozenset[int] = frozenset(),
    n_classes: int | None = None,
) -> str | None:
    """Why an array of this name, owner and length is no array of rows; ``None`` if it may be."""
    if owner is not None:
        for (module, kind), (attributes, reason) in _OWNERS.items():
            same = owner.name == kind and owner.module.startswith(module)
            if same and (not attributes or name in attributes):
                return reason
    named = _NAMES.get(name) or next((r for p, r in _PATTERNS if p.match(name)), None)
    if named == _PER_COLUMN and n_columns and length > max(n_columns):
        return None
    if named == _PER_CLASS and n_classes is not None and length > n_classes:
        return None
    return named
