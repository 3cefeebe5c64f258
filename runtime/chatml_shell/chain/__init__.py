"""Lines of commands without a shell: words, pipes and the operators between pipelines (shell.md section 12.7).

A text comes in, `Chain` goes out, or a `ChainError` with the offset of the byte where the text stops being one. What a
shell would expand, substitute or redirect is either literal here (`$X`, `*`, `~`) or an error (`>`, `$(`, a backtick):
nothing ever falls back to a shell.
"""
