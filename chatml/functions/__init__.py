"""A script's function as one of Python."""
