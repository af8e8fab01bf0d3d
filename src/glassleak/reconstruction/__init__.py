"""What was the training set?  Reconstruction from published counts, with proof."""

from glassleak.reconstruction._presence import Presence, presence
from glassleak.reconstruction._reconstruct import reconstruct
from glassleak.reconstruction._result import Certificate, Reconstruction
from glassleak.reconstruction.evaluation._evaluate import (
    random_baseline,
    reconstruction_error,
    row_errors,
)

__all__ = [
    "Certificate",
    "Presence",
    "Reconstruction",
    "presence",
    "random_baseline",
    "reconstruct",
    "reconstruction_error",
    "row_errors",
]
