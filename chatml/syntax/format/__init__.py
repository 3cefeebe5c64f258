"""Scripts in their canonical layout: the same tree and the same comments, with the lines that a reader expects.

Two blanks of indentation, at most `COLUMNS` columns where a line can be broken, the fewest parentheses. Blank lines
between statements, arms and links of a chain stay, one at most. Literals and comments stay as they are written.
"""

from __future__ import annotations

import re

from chatml.source import LINE_END, Source
from chatml.stack import deep
from chatml.syntax import ast
from chatml.syntax.ast_text.document import render
from chatml.syntax.ast_text.writer import Writer
from chatml.syntax.format.comments import place_comments, source_tokens
from chatml.syntax.parse import parse

__all__ = ["COLUMNS", "format_script"]

COLUMNS = 100
"""The longest line that the layout makes, in code points; what cannot be broken may be longer."""


def format_script(source: Source) -> str:
    """The text of a script in its canonical layout; raises `CompileError` for a text that is not a script.

    Formatting the result again changes nothing.

    >>> print(format_script(Source("s", "(* twice *) let f x=(x+x)  print(f((3)))")), end="")
    (* twice *) let f x = x + x
    print(f(3))
    """
    script = parse(source)
    if "\r" in source.text:
        source = Source(source.name, re.sub(LINE_END, "\n", source.text))
        script = parse(source)
    return lay_out(script, source)


def lay_out(script: ast.Script, source: Source) -> str:
    """The text of a script that was read from a text with plain line ends."""
    with deep():
        writer = Writer(as_written=True)
        writer.statements(script.statements)
    text = render(place_comments(writer.out, source_tokens(source.text)), COLUMNS)
    return f"{text}\n" if text else ""
