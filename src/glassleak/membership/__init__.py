"""Can one tell whether a person was in the training data?"""

from glassleak.membership._inference import Attack, Roc
from glassleak.membership._vulnerability import Vulnerability, vulnerability

__all__ = ["Attack", "Roc", "Vulnerability", "vulnerability"]
