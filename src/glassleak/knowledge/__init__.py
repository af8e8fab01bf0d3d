"""What a published model states about its training set: cells, and linear facts about them."""

from glassleak.knowledge._cells import Cells, enumerate_cells
from glassleak.knowledge._parts import Part, Published, published
from glassleak.knowledge._space import Block, Space, profile_space
from glassleak.knowledge._system import System, linear_system

__all__ = [
    "Block",
    "Cells",
    "Part",
    "Published",
    "Space",
    "System",
    "enumerate_cells",
    "linear_system",
    "profile_space",
    "published",
]
