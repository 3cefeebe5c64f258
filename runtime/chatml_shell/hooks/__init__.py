"""Programs that extend the shell, by the protocol `shell-hook-json-v1` (shell.md section 17).

In comes what a script would get, as JSON; out comes a reply of exactly the fields that its action has. A hook runs as a
command of its worker runtime: its policy, capabilities, sandbox, limits and audit apply to it as to any other. A reply
that is late, too long, not JSON, or says more than it should is not a reply.
"""
