"""Values, and what every engine does with them."""
