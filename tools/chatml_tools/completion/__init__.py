"""Completion: what may stand at the cursor of a script that is being written.

`situation` reads the text before the cursor, `mend` closes what is open so that it parses, and `complete` names what
the types allow there.
"""
