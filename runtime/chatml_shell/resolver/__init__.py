"""Programs found, and what they are: from a name and a directory to a file with a fingerprint (shell.md section 14.1).

A name comes in, an `Executable` goes out: the file that the name led to, with its links resolved, and the fingerprint
of its content. Whoever reviews a command reviews that fingerprint, and the process that starts the command compares it
again. Files are looked at through one descriptor each, so that size, owner and content are those of the same file.
"""
