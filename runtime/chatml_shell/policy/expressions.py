"""Regular expressions over the program's text, matched in linear time.

An expression comes from a document and the text from a model; a matcher that can take exponential time would let either
of them stop the host. So the language is RE2's, by the toolkit's own automaton: back references and look-around are
refused when the runtime is made, because a rule that cannot be evaluated must not be dropped.
"""

from __future__ import annotations

from collections.abc import Callable

from chatml.text_match.matcher import compile
from chatml.text_match.parse import PatternError
from chatml_shell.problems import fault


def compile_expression(text: str) -> Callable[[str], bool]:
    """The test whether an expression is found in a text. Raises `ShellError` (`shell.invalid_program_regex`).

    >>> compile_expression("^g(it|rep)$")("git")
    True
    """
    try:
        return compile(text).matches
    except PatternError as error:
        path = ("policy", "program_regex")
        raise fault("shell.invalid_program_regex", None, path=path, value=text, why=str(error)) from None
