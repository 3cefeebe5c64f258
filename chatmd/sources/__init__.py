"""The files that a document is made of."""
