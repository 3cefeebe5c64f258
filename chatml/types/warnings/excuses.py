"""Excuses: `(* allow CODE: reason *)` takes back the warnings of one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chatml.lazy import lazy
from chatml.records import frozen
from chatml.source import Source, Span
from chatml.syntax import ast
from chatml.syntax.parse.lexer import comment_end, tokens

if TYPE_CHECKING:
    from chatml.diagnostics import model
    from chatml.diagnostics.model import Diagnostic
else:
    model = lazy("chatml.diagnostics.model")

EXCUSE = re.compile(r"\(\*\s*allow\s+(\S+?)\s*:\s*(.*?)\s*\*\)", re.DOTALL)
JUDGED = ("type.", "syntax.")
"""The families whose warnings every check looks for; of others nobody knows here whether an excuse is needed."""


@frozen
class Excuse:
    """A comment that excuses a code on a line."""

    code: str
    line: int
    span: Span


def excuse(script: ast.Script, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The warnings that are not excused, and one for each excuse that excuses nothing."""
    source = script.span.source
    if "allow" not in source.text:
        return tuple(found)
    excuses = list(excuses_in(source))
    used = set[Excuse]()
    left = []
    for diagnostic in found:
        line = None if diagnostic.span is None else diagnostic.span.start.line
        taken = [each for each in excuses if each.code == diagnostic.code and each.line == line]
        used.update(taken)
        if not taken:
            left.append(diagnostic)
    left += [needless(each) for each in excuses if each not in used and each.code.startswith(JUDGED)]
    return tuple(sorted(left, key=lambda each: -1 if each.span is None else each.span.left))


def excuses_in(source: Source) -> Iterator[Excuse]:
    """The excuses of a script. One that has a line to itself is for the next line, any other for its own."""
    for left, right in comments_in(source.text):
        match = EXCUSE.fullmatch(source.text, left, right)
        if match is None or not match[2]:
            continue
        span = source.span(left, right)
        line = source.line(span.start.line)
        alone = not line[: span.start.column].strip() and not line[span.start.column + right - left :].strip()
        yield Excuse(match[1], span.end.line + alone, span)


def comments_in(text: str) -> Iterator[tuple[int, int]]:
    """Where the comments of a script are: between two tokens there are only blanks and comments."""
    end = 0
    for _, left, word in tokens(text):
        opener = text.find("(*", end, left)
        while opener >= 0:
            closed = comment_end(text, opener)
            yield opener, closed
            opener = text.find("(*", closed, left)
        end = left + len(word)


def needless(excuse: Excuse) -> Diagnostic:
    return model.Diagnostic(
        "syntax.unused_excuse",
        f"this excuses nothing: line {excuse.line} has no warning `{excuse.code}`",
        excuse.span,
        severity="warning",
        help="leave it out; an excuse stands on the line of its warning, or alone right above it",
    )
