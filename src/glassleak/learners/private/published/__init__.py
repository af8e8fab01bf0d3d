"""The private rule lists of Ly et al. (2024) as published, for comparison.  Not certified."""

from glassleak.learners.private.published._rule_list import (
    MECHANISMS,
    PublishedPrivateRuleListClassifier,
)
from glassleak.learners.private.published._sensitivity import smooth_sensitivity

__all__ = ["MECHANISMS", "PublishedPrivateRuleListClassifier", "smooth_sensitivity"]
