"""The experiments of Ly et al., ICML 2024.

"Smooth Sensitivity for Learning Differentially-Private yet Accurate Rule Lists": what privacy
costs in accuracy, and what it protects.
"""

from __future__ import annotations

from glassleak.papers._paper import Item, Paper
from glassleak.papers.dp._items import (
    figure_1,
    figure_2,
    figure_3,
    figure_4,
    figure_6,
    table_1,
)

__all__ = ["PAPER"]

PAPER = Paper(
    name="dp",
    title="Smooth Sensitivity for Learning Differentially-Private yet Accurate Rule Lists "
    "(Ly et al., 2024)",
    items=(
        Item("figure", 1, "noise under global and smooth sensitivity", figure_1),
        Item("figure", 2, "noisy counts and noisy Gini, COMPAS", figure_2),
        Item("figure", 3, "accuracy by epsilon, every mechanism", figure_3),
        Item("figure", 4, "noisy counts and noisy Gini, German Credit and Adult", figure_4),
        Item("figure", 6, "membership inference", figure_6),
        Item("table", 1, "accuracy and vulnerability", table_1),
    ),
    left_out="Figure 5 is a drawing of the pipeline.",
)
