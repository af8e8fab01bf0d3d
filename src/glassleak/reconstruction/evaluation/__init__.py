"""How wrong is a reconstruction: matching rows, errors, baselines."""
