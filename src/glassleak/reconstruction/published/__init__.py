"""The row formulations of "Trained Random Forests Completely Reveal your Dataset", for reference.

One variable per training row, tree and leaf, as published.  They are here to compare
with: the package's own formulation counts people per cell and does not grow with their number.
"""

from glassleak.reconstruction.published._instance import RowsSolution
from glassleak.reconstruction.published._rows_cp import solve_rows_cp
from glassleak.reconstruction.published._rows_cp_bagged import solve_rows_cp_bagged
from glassleak.reconstruction.published._rows_milp import solve_rows_milp

__all__ = ["RowsSolution", "solve_rows_cp", "solve_rows_cp_bagged", "solve_rows_milp"]
