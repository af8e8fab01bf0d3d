"""Try to catch a private learner lying: a lower bound on the epsilon it really has."""

from glassleak.learners.private.verify._bound import Bound, epsilon_bound, rho_bound
from glassleak.learners.private.verify._cases import Case, cases_of
from glassleak.learners.private.verify._mechanisms import mechanism_cases
from glassleak.learners.private.verify._mutants import MUTANTS, Mutant, mutants_of
from glassleak.learners.private.verify._verify import Verdict, verify

__all__ = [
    "MUTANTS",
    "Bound",
    "Case",
    "Mutant",
    "Verdict",
    "cases_of",
    "epsilon_bound",
    "mechanism_cases",
    "mutants_of",
    "rho_bound",
    "verify",
]
