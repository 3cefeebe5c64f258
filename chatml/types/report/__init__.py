"""How the facts that the checker finds are put into words."""
