"""The experiments of Zhu and Du, DBSec 2010.

"Understanding Privacy Risk of Publishing Decision Trees": what does a published tree say about the
education of people whose other attributes are known?
"""

from __future__ import annotations

from glassleak.papers._paper import Item, Paper
from glassleak.papers.maxent._individual import figure_7, figure_8
from glassleak.papers.maxent._overall import figure_3, figure_4, figure_6
from glassleak.papers.maxent._time import figure_9

__all__ = ["PAPER"]

PAPER = Paper(
    name="maxent",
    title="Understanding Privacy Risk of Publishing Decision Trees (Zhu and Du, 2010)",
    items=(
        Item("figure", 3, "overall divergence with and without error rates", figure_3),
        Item("figure", 4, "overall divergence by attribute selection measure", figure_4),
        Item("figure", 6, "overall divergence with and without implicit information", figure_6),
        Item("figure", 7, "the ten people implicit information says most about", figure_7),
        Item("figure", 8, "what implicit information says about the top K", figure_8),
        Item("figure", 9, "running time and memory", figure_9),
    ),
    left_out="Figures 1, 2 and 5 are worked examples; the documentation and the test suite compute "
    "them, and show why the second row of Figure 5 is not the maximum.",
)
