"""One reader per modelling library, from inert data to the IR."""
