"""State that outlives a process: one JSON object in one file, changed as a whole or not at all (shell.md 16.5, 22).

A change takes the lock beside the file, reads what is there now, and replaces the file by a new one, so two processes
never lose each other's changes and a reader never sees half of one. The file is its owner's alone. With a key its
content carries an HMAC: whoever can write the file but does not know the key cannot give himself a grant.
"""
