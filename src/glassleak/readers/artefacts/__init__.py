"""What a fitted object itself retains about its training rows, before any attack."""

from glassleak.readers.artefacts._artefact import Artefact, Severity
from glassleak.readers.artefacts._scan import scan

__all__ = ["Artefact", "Severity", "scan"]
