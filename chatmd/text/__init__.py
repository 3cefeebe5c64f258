"""Document text and its tree."""
