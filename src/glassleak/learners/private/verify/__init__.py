"""Try to catch a private learner lying: a lower bound on the epsilon it really has."""

from glassleak.learners.private.verify._bound import Bound, epsilon_bound
from glassleak.learners.private.verify._cases import Case, cases_of
from glassleak.learners.private.verify._verify import Verdict, verify

__all__ = ["Bound", "Case", "Verdict", "cases_of", "epsilon_bound", "verify"]
