"""Replaying stored conversations on the command line: reading them, working through them, telling what was found."""
