"""From text to syntax tree."""
