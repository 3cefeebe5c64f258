"""The typed elements of a document, one module per kind: its class, and how it is read from the tree."""
