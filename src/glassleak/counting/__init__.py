"""How many valid profiles each leaf or rule captures: exact at any size, or rigorous bounds."""

from glassleak.counting._combinatorics import log2_multisets, multisets
from glassleak.counting._counter import Count, Counter
from glassleak.counting._domains import Domain, bits, domains_of
from glassleak.counting._leaves import count_leaves
from glassleak.counting._projection import Projection, project
from glassleak.counting._regions import (
    Box,
    Region,
    Regions,
    RuleRegions,
    TreeRegions,
    regions_of,
)
from glassleak.counting._rules import count_rules
from glassleak.counting._sampling import level_table, sample_box, sample_outside
from glassleak.counting._text import decimal_text, readable_number

__all__ = [
    "Box",
    "Count",
    "Counter",
    "Domain",
    "Projection",
    "Region",
    "Regions",
    "RuleRegions",
    "TreeRegions",
    "bits",
    "count_leaves",
    "count_rules",
    "decimal_text",
    "domains_of",
    "level_table",
    "log2_multisets",
    "multisets",
    "project",
    "readable_number",
    "regions_of",
    "sample_box",
    "sample_outside",
]
