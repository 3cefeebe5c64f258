"""Tools as a model meets them: schema, checks of what it writes, and results (shell.md section 12).

In comes the JSON text of a call; out goes a `Request` that the executor may be given, or an `InputError` that the model
can read and mend. Nothing here starts, resolves or decides anything: a request that passes these checks has only been
understood.
"""
