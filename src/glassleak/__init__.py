"""glassleak: how much of its training data does a published tree or rule model give away?

>>> import glassleak as gl
>>> report = gl.audit("model.skops")  # doctest: +SKIP
>>> report.verdict  # doctest: +SKIP
'fix'
"""

from glassleak._version import __version__
from glassleak.audit import Policy, audit
from glassleak.disclosure import disclosure
from glassleak.errors import GlassleakError
from glassleak.knowledge import Known
from glassleak.membership import vulnerability
from glassleak.models import Forest, RuleList, Tree
from glassleak.readers import Limits, read
from glassleak.reconstruction import (
    exact_cells,
    random_baseline,
    reconstruct,
    reconstruction_error,
)
from glassleak.sanitise import sanitise
from glassleak.schema import Binary, Bins, Categorical, Numeric, Ordinal, Schema
from glassleak.uncertainty import uncertainty

__all__ = [
    "Binary",
    "Bins",
    "Categorical",
    "Forest",
    "GlassleakError",
    "Known",
    "Limits",
    "Numeric",
    "Ordinal",
    "Policy",
    "RuleList",
    "Schema",
    "Tree",
    "__version__",
    "audit",
    "disclosure",
    "exact_cells",
    "random_baseline",
    "read",
    "reconstruct",
    "reconstruction_error",
    "sanitise",
    "uncertainty",
    "vulnerability",
]
