"""What was said, as a document."""
