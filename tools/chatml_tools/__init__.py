"""The authors' tools, and every command of `chatml` and `chatmd`.

What comes in are the words of a call; `program` finds the command, `arguments` reads its options, and the command, a
module of `commands` or `documents`, does the work by means of the rooms beside it: `repl`, `lsp`, `testing`, `replay`
and `timeline` talk to people and editors; `navigation`, `completion`, `workspace`, `coverage` and `highlight` know
about scripts that are still being written. Nothing imports this package but a console script: it is the top of the
house. A command is loaded when it is called, since the start of a process is most of what a short script costs.
"""
