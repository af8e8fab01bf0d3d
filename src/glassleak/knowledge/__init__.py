"""What a published model states about its training set: cells, and linear facts about them."""

from glassleak.knowledge._assumed import assumed_schema
from glassleak.knowledge._cells import Cells, enumerate_cells
from glassleak.knowledge._denoise import (
    closest_counts,
    is_noisy,
    likely_sizes,
    most_likely,
    separate_trees,
    with_leaf_counts,
)
from glassleak.knowledge._known import Known, class_numbers, with_known_columns
from glassleak.knowledge._parts import Decisions, Part, Published, labels_only, published
from glassleak.knowledge._space import Block, Space, profile_space
from glassleak.knowledge._system import System, linear_system

__all__ = [
    "Block",
    "Cells",
    "Decisions",
    "Known",
    "Part",
    "Published",
    "Space",
    "System",
    "assumed_schema",
    "class_numbers",
    "closest_counts",
    "enumerate_cells",
    "is_noisy",
    "labels_only",
    "likely_sizes",
    "linear_system",
    "most_likely",
    "profile_space",
    "published",
    "separate_trees",
    "with_known_columns",
    "with_leaf_counts",
]
