"""How uncertain does the training set remain, given the model?"""

from glassleak.uncertainty._align import Alignment
from glassleak.uncertainty._dataset import Line, ProbabilisticDataset, World
from glassleak.uncertainty._facts import LearnerKnowledge, learner_uncertainty
from glassleak.uncertainty._result import Remaining, Uncertainty
from glassleak.uncertainty._uncertainty import uncertainty

__all__ = [
    "Alignment",
    "LearnerKnowledge",
    "Line",
    "ProbabilisticDataset",
    "Remaining",
    "Uncertainty",
    "World",
    "learner_uncertainty",
    "uncertainty",
]
