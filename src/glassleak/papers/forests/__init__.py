"""The experiments of Ferry et al., ICML 2024.

"Trained Random Forests Completely Reveal your Dataset": how much of the training set comes
back, and how long that takes.
"""

from __future__ import annotations

import functools

from glassleak.papers._paper import Item, Paper
from glassleak.papers.forests._bagging_figures import figure_5, figure_6
from glassleak.papers.forests._error_figures import figure_2, figure_4
from glassleak.papers.forests._scaling_tables import scaling_table
from glassleak.papers.forests._time_tables import table_2, table_3, table_5

__all__ = ["PAPER"]

PAPER = Paper(
    name="forests",
    title="Trained Random Forests Completely Reveal your Dataset (Ferry et al., 2024)",
    items=(
        Item("figure", 2, "error by number of trees and depth, three datasets", figure_2),
        Item("figure", 4, "error under each formulation, COMPAS", figure_4),
        Item("figure", 5, "bagging: best possible guess and attack, by number of trees", figure_5),
        Item("figure", 6, "bagging: error when some attributes are known", figure_6),
        Item("table", 2, "time and failures by depth, 100 trees", table_2),
        Item("table", 3, "time and failures by number of trees, no maximum depth", table_3),
        Item("table", 5, "time of each formulation, COMPAS", table_5),
        Item("table", 6, "time by number of rows, COMPAS", functools.partial(scaling_table, 6)),
        Item("table", 7, "time by number of rows, Adult", functools.partial(scaling_table, 7)),
        Item("table", 8, "time by number of rows, Default Credit",
             functools.partial(scaling_table, 8)),
    ),
    left_out="The right column of Figure 2 (bagging) is part of Figure 5 here.  Figures 1 and 3 "
    "and Tables 1 and 4 are worked examples and not reproduced.",
)  # fmt: skip
