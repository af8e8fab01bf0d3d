"""Two audits side by side: what is gone, what is new, and whether the second is worse."""

from glassleak.compare._compare import Change, Comparison, Figure, compare_records

__all__ = ["Change", "Comparison", "Figure", "compare_records"]
