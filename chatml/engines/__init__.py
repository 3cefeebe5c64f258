"""Two engines over one core."""
