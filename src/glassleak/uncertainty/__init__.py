"""How uncertain does the training set remain, given the model?"""

from glassleak.uncertainty._result import Remaining, Uncertainty

__all__ = ["Remaining", "Uncertainty"]
