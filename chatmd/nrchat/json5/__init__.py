"""A small JSON5 codec: reading is all of JSON5, writing has one form for every value (nrchat.md 12 and 13)."""
