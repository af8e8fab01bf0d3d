"""The frozen form of a published model that every analysis reads."""

from glassleak.models._check import node_depths
from glassleak.models._counts import Counts, Exact, Missing, Noisy
from glassleak.models._forest import Forest
from glassleak.models._json import Model, model_document, model_from_document
from glassleak.models._multiway import MultiwayTree
from glassleak.models._resampling import Bagging
from glassleak.models._rule_list import Condition, Rule, RuleList
from glassleak.models._tree import Label, Provenance, Tree

__all__ = [
    "Bagging",
    "Condition",
    "Counts",
    "Exact",
    "Forest",
    "Label",
    "Missing",
    "Model",
    "MultiwayTree",
    "Noisy",
    "Provenance",
    "Rule",
    "RuleList",
    "Tree",
    "model_document",
    "model_from_document",
    "node_depths",
]
