"""Learning with differential privacy: exact noise, selection, accounting, and what uses them."""

from glassleak.learners.private._accountant import Accountant, BudgetOverspentError, Expense
from glassleak.learners.private._curve import CurvePoint, privacy_curve
from glassleak.learners.private._forest import PrivateForestClassifier
from glassleak.learners.private._parameters import PrivacyWarning
from glassleak.learners.private._rule_list import PrivateRuleListClassifier
from glassleak.learners.private._tree import PrivateTreeClassifier

__all__ = [
    "Accountant",
    "BudgetOverspentError",
    "CurvePoint",
    "Expense",
    "PrivacyWarning",
    "PrivateForestClassifier",
    "PrivateRuleListClassifier",
    "PrivateTreeClassifier",
    "privacy_curve",
]
