"""Backends: how an order is started, and what confines it (shell.md section 19).

An order comes in, a launch goes out: the exact words that are executed and the files that must be unchanged when they
are. Choosing is by the runtime's own word: a runtime that requires a sandbox gets one that confines or none at all, and
nothing ever falls back to a weaker one.
"""
