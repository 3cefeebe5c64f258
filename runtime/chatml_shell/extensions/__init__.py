"""Scripts that extend the shell: small programs that see a command and answer with exactly one action (section 8).

In comes a record about a command, out comes the action that the script took, and its new state. A script has no I/O, no
tools and no models; it is bounded in time, work and size. Whatever goes wrong, time running out included, leaves its
state as it was: the action and the state belong together or count for nothing.

`compile` compiles scripts against their kind; `session` runs one call as a transaction; `instances` says how long a
state lives; `inputs` makes the records; `adapters` makes of it what the executor works with.
"""
