"""Every question the audit asks, in the order it asks them: cheapest and most telling first."""

from glassleak.audit._analysis import Analysis
from glassleak.audit.analyses._artefacts import ARTEFACTS
from glassleak.audit.analyses._disclosure import DISCLOSURE
from glassleak.audit.analyses._membership import MEMBERSHIP
from glassleak.audit.analyses._presence import PRESENCE
from glassleak.audit.analyses._privacy import PRIVACY
from glassleak.audit.analyses._reconstruction import RECONSTRUCTION
from glassleak.audit.analyses._structure import STRUCTURE
from glassleak.audit.analyses._uncertainty import UNCERTAINTY

ANALYSES: tuple[Analysis, ...] = (
    ARTEFACTS,
    PRIVACY,
    STRUCTURE,
    PRESENCE,
    RECONSTRUCTION,
    UNCERTAINTY,
    DISCLOSURE,
    MEMBERSHIP,
)

__all__ = ["ANALYSES"]
