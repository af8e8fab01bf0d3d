"""How uncertain does the training set remain, given the model?"""

from glassleak.uncertainty._align import Alignment
from glassleak.uncertainty._dataset import Line, ProbabilisticDataset, World
from glassleak.uncertainty._result import Remaining, Uncertainty
from glassleak.uncertainty._uncertainty import uncertainty

__all__ = [
    "Alignment",
    "Line",
    "ProbabilisticDataset",
    "Remaining",
    "Uncertainty",
    "World",
    "uncertainty",
]
