"""A document from its text, and back."""
