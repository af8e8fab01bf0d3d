"""Real tables to try glassleak on: Adult (embedded), COMPAS, German Credit and Default of Credit.

Every table comes as published (``variant="raw"``) and in the encodings the literature uses, each
derived from the raw table by a recipe in code, and each with a schema somebody wrote down.
"""

from glassleak.datasets._cache import cache_dir
from glassleak.datasets._dataset import Dataset, DatasetInfo, UnknownDatasetError
from glassleak.datasets._registry import available, fetch, load

__all__ = [
    "Dataset",
    "DatasetInfo",
    "UnknownDatasetError",
    "available",
    "cache_dir",
    "fetch",
    "load",
]
