"""A locked-down process in which pickles are decoded."""
