"""A small JSON5 codec: reads all of JSON5, writes one form for every value (nrchat.md 12 and 13)."""
