"""Which profiles are possible: attributes, the columns that carry them, and what is a guess."""

from glassleak.schema._attributes import Attribute, Binary, Bins, Categorical, Numeric, Ordinal
from glassleak.schema._evidence import SplitEvidence
from glassleak.schema._schema import Guess, Schema
from glassleak.schema._widen import widened

__all__ = [
    "Attribute",
    "Binary",
    "Bins",
    "Categorical",
    "Guess",
    "Numeric",
    "Ordinal",
    "Schema",
    "SplitEvidence",
    "widened",
]
