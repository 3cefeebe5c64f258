"""Live runtimes: a declared runtime with every path, variable, file and reviewer of this machine in its place.

The records of this room are what the executor works with. They are made once, when a manifest has been authorised, and
do not change: what may be done is settled before the first command is looked at.
"""
