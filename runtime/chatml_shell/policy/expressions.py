"""Regular expressions over the program's text, matched in linear time or not at all.

An expression comes from a document and the text from a model; a matcher that can take exponential time would let either
of them stop the host. This build has no linear matcher, so a runtime with `program_regex` is refused when it is made: a
rule that cannot be evaluated must not be dropped.
"""

from __future__ import annotations

from collections.abc import Callable

from chatml_shell.problems import fault

WHY = "this build has no matcher that takes linear time; use `program`, `basename` or `argv_prefix`"


def compile_expression(text: str) -> Callable[[str], bool]:
    """The test whether an expression is found in a text. Raises `ShellError` (`shell.invalid_program_regex`)."""
    raise fault("shell.invalid_program_regex", None, path=("policy", "program_regex"), value=text, why=WHY)
