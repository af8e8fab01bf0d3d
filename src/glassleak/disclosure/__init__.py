"""What a published tree says about people one already knows (the maximum-entropy paper)."""

from glassleak.disclosure._candidates import Candidates
from glassleak.disclosure._certificate import Certificate
from glassleak.disclosure._disclose import disclosure
from glassleak.disclosure._estimate import estimate
from glassleak.disclosure._gate import SplitFacts, split_facts_of
from glassleak.disclosure._metrics import Overall
from glassleak.disclosure._people import People, known_people
from glassleak.disclosure._problem import Problem, problem_of
from glassleak.disclosure._result import Disclosure
from glassleak.disclosure._superset import RegisterDisclosure, disclosure_from_register

__all__ = [
    "Candidates",
    "Certificate",
    "Disclosure",
    "Overall",
    "People",
    "Problem",
    "RegisterDisclosure",
    "SplitFacts",
    "disclosure",
    "disclosure_from_register",
    "estimate",
    "known_people",
    "problem_of",
    "split_facts_of",
]
