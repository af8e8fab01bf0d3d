"""Reconstruct regression trees: targets name rows, boxes and thresholds give their values."""

from glassleak.reconstruction.regression._attack import attack_targets

__all__ = ["attack_targets"]
