"""How many valid profiles each leaf or rule captures: exact at any size, or rigorous bounds."""

from glassleak.counting._combinatorics import log2_multisets, multisets
from glassleak.counting._domains import Domain, bits, domains_of
from glassleak.counting._leaves import count_leaves
from glassleak.counting._regions import (
    Box,
    Region,
    Regions,
    RuleRegions,
    TreeRegions,
    regions_of,
)

__all__ = [
    "Box",
    "Domain",
    "Region",
    "Regions",
    "RuleRegions",
    "TreeRegions",
    "bits",
    "count_leaves",
    "domains_of",
    "log2_multisets",
    "multisets",
    "regions_of",
]
