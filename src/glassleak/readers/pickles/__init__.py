"""Pickle and joblib as inert data: an interpreter that imports and calls nothing."""
