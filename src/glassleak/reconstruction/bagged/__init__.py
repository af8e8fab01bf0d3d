"""Reconstruction of bagged forests when nobody knows which rows each tree drew."""

from glassleak.reconstruction.bagged._attack import attack_bagged
from glassleak.reconstruction.bagged._histogram import BaggedHistogram, estimate_histogram

__all__ = ["BaggedHistogram", "attack_bagged", "estimate_histogram"]
