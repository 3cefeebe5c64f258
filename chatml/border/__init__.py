"""Values to data and back."""
