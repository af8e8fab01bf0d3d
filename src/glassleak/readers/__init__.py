"""From a stranger's file or a fitted estimator to the IR, without running code it carries."""

from glassleak.readers._limits import Limits
from glassleak.readers._open import Opened, open_model, read
from glassleak.readers.artefacts import Artefact

__all__ = ["Artefact", "Limits", "Opened", "open_model", "read"]
