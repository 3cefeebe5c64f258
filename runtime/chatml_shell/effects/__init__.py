"""What a command would do, as far as its name and words tell, and whether it may (shell.md section 14).

In comes a command with its executable and directory, out come effects: kinds of power, and paths that are read and
written. The table knows a few common programs; whatever it does not know is taken to do anything. It is a filter for
policies and not a sandbox: what confines a process is its backend. A name alone proves nothing, so the rows that ask
for little count only for programs of the system, found under their own name.
"""
