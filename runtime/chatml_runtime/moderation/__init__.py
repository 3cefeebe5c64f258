"""One moderated conversation."""
