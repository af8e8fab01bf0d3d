"""Whole-number solutions of what propagation leaves open."""
