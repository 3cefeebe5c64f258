"""A document as a request to a model."""
