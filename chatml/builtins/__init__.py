"""The functions that a script can call, a module a file."""
