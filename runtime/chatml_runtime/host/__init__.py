"""A host's loop in memory."""
