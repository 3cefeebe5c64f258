"""One script at work."""
