"""What the rooms of the shell runtime hand each other: commands, executables, grants, plans and their outcomes.

Data flows one way. A *command* (words) is resolved to an *executable* (a file with a fingerprint); command, executable,
directory, environment and *grants* make an *order*; a backend turns the order into a *launch* (the exact words that are
executed, and the files that must be unchanged when they are); order and launch are a *plan*; running a plan gives an
*outcome*. Every record is frozen: what was reviewed is what runs.
"""
