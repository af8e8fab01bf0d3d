"""The experiments of Ferry et al., SaTML 2024.

"Probabilistic Dataset Reconstruction from Interpretable Models": how much uncertainty do greedy
and optimal trees and rule lists leave about their training sets?
"""

from __future__ import annotations

from glassleak.papers._paper import Item, Paper
from glassleak.papers.uncertainty._exposure import figure_4
from glassleak.papers.uncertainty._figures import figure_2, figure_3, figure_5, figure_6

__all__ = ["PAPER"]

PAPER = Paper(
    name="uncertainty",
    title="Probabilistic Dataset Reconstruction from Interpretable Models (Ferry et al., 2024)",
    items=(
        Item("figure", 2, "trees: Dist_G by size and by accuracy", figure_2),
        Item("figure", 3, "rule lists: Dist_G by size and by accuracy", figure_3),
        Item("figure", 4, "who is exposed: Dist_G over people", figure_4),
        Item("figure", 5, "trees: size and Dist_G by depth allowed", figure_5),
        Item("figure", 6, "rule lists: size and Dist_G by length allowed", figure_6),
    ),
    left_out="Figure 1 and Tables I to VII are worked examples; the test suite computes them.",
)
