"""Reports: what was found, where, why, and what to do."""
