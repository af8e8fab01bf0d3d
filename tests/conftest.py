"""Shared by all tests; that this file is here also makes `strategies` importable from each."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Deterministic, and no deadline: two busy cores make any single example slow now and then.
settings.register_profile(
    "glassleak",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("glassleak")
