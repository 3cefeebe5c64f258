"""What scripts can name: the surface model and the standard surfaces."""
