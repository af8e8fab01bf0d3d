"""Learners whose models are small enough to publish, as scikit-learn estimators."""

from glassleak.learners._greedy import GreedyRuleListClassifier
from glassleak.learners._id3 import ID3Classifier
from glassleak.learners._least_leaky import Ties
from glassleak.learners._optimal import Certificate, OptimalRuleListClassifier
from glassleak.learners._trees import OptimalTreeClassifier, TreeCertificate
from glassleak.learners.private import (
    PrivateForestClassifier,
    PrivateRuleListClassifier,
    PrivateTreeClassifier,
)

__all__ = [
    "Certificate",
    "GreedyRuleListClassifier",
    "ID3Classifier",
    "OptimalRuleListClassifier",
    "OptimalTreeClassifier",
    "PrivateForestClassifier",
    "PrivateRuleListClassifier",
    "PrivateTreeClassifier",
    "Ties",
    "TreeCertificate",
]
