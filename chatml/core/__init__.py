"""The resolved tree, which both engines run."""
