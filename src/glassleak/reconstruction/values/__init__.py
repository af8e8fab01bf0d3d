"""Exact values from thresholds, once it is known which rows reached which node."""

from glassleak.reconstruction.values._recover import recover_values
from glassleak.reconstruction.values._result import Values

__all__ = ["Values", "recover_values"]
