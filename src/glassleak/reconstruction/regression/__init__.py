"""Reconstruct regression trees: targets name rows, boxes and thresholds give their values."""

from glassleak.reconstruction.regression._attack import attack_targets
from glassleak.reconstruction.regression._estimate import with_estimates

__all__ = ["attack_targets", "with_estimates"]
