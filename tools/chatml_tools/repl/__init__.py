"""The REPL: statements entered one by one, and a moderator driven by hand.

`dialogue` takes an input and gives what is to be shown. It passes statements to a `chatml_tools.workspace` and
commands (`:type`, `:event`) to `commands`; `session` holds what was entered, so that any input can be undone.
`terminal` and `editor` are for people, `inputs` finds the inputs in a pipe.
"""
