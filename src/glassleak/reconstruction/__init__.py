"""What was the training set?  Reconstruction from published counts, with proof."""

from glassleak.reconstruction._presence import Presence, presence
from glassleak.reconstruction._reconstruct import reconstruct
from glassleak.reconstruction._result import Certificate, Reconstruction
from glassleak.reconstruction.evaluation._evaluate import (
    random_baseline,
    reconstruction_error,
    row_errors,
)
from glassleak.reconstruction.evaluation._exact_cells import ExactCells, exact_cells

__all__ = [
    "Certificate",
    "ExactCells",
    "Presence",
    "Reconstruction",
    "exact_cells",
    "presence",
    "random_baseline",
    "reconstruct",
    "reconstruction_error",
    "row_errors",
]
