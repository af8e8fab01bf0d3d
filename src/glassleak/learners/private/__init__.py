"""Learning with differential privacy: exact noise, selection, accounting, and what uses them."""
