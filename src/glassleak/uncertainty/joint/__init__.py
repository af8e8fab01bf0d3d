"""Remaining uncertainty given a forest or several models: tables that fit all trees at once."""

from glassleak.uncertainty.joint._count import Effort
from glassleak.uncertainty.joint._joint import joint_uncertainty

__all__ = ["Effort", "joint_uncertainty"]
