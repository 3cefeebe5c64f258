"""Closing what is open in the beginning of an input, so that it can be checked: brackets, `let … in`, `if … then …`."""

from __future__ import annotations

from collections.abc import Iterator

from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.syntax import ast
from chatml.syntax.parse import parse
from chatml.syntax.parse.lexer import tokens
from chatml_tools.completion.situation import ends_expression

HOLE = "cursor__"
"""A function that takes anything and gives what fits. It stands where the text breaks off, so that the rest checks."""

CLOSING = {
    "(": ")",
    "[": "]",
    "{": "}",
    "base": f" with {HOLE} = ()",
    "fun": f" -> {HOLE}(())",
    "if": f" then {HOLE}(()) else {HOLE}(())",
    "then": f" else {HOLE}(())",
    "match": f" with _ -> {HOLE}(())",
    "arms": f" | _ -> {HOLE}(())",
    "while": " do () done",
    "do": " done",
    "struct": " end",
    "let": f" in {HOLE}(())",
}
"""How a text may go on after an expression, to the end of each construct that can be open around it.

`base` is what an update changes: an expression right after a brace can be nothing else.
"""

ENDED_BY = {
    ")": "(",
    "]": "[",
    "}": "{",
    "->": "fun",
    "then": "if",
    "else": "then",
    "with": "match",
    "do": "while",
    "done": "do",
    "in": "let",
    "end": "struct",
}
"""What a word ends; the words that open something besides are in `CLOSING`."""

LETS = ("let", "let*", "let+")


def mended(text: str, left: int) -> Iterator[tuple[ast.Script, int]]:
    """Trees of a text that ends with an expression that begins at `left`, and where the expression is in them.

    Whatever is open around the expression is closed; matches once so that they cover everything, and once as they are,
    as they may already. Nothing if that makes no script.

    >>> [len(list(mended(text, len(text) - 1))) for text in ("f(a, [x", "let r = if a then b", "g(fun x -> x", "1 +")]
    [1, 1, 1, 0]
    """
    opened = open_constructs(text)
    closings = ["".join([CLOSING[each] for each in reversed(opened)])]
    if "arms" in opened:
        closings.append("".join([CLOSING[each] for each in reversed(opened) if each != "arms"]))
    for closing in closings:
        try:
            yield parse(Source("<mended>", f"{text[:left]}{HOLE}({text[left:]}){closing}")), left + len(HOLE) + 1
        except CompileError:
            return


def open_constructs(text: str) -> list[str]:
    """The constructs that are open at the end of a text, outermost first.

    >>> open_constructs("let f x = g(if x then"), open_constructs("let a = let b = 1 in b let c = let d = 2")
    (['(', 'then'], ['let'])
    >>> open_constructs("let* x = { a"), open_constructs("{ a with b = c")
    (['let', '{', 'base'], ['{'])
    """
    opened: list[str] = []
    before = ""
    for _, _, word in tokens(text):
        if word in ("with", "=") and opened[-1:] == ["base"]:
            opened.pop()
        elif word in ENDED_BY:
            close(opened, ENDED_BY[word])
            if word == "with":
                opened.append("arms")
        if word in LETS:
            if ends_expression(before):  # then this is a statement: whatever was open has ended
                del opened[max([index + 1 for index, each in enumerate(opened) if each == "struct"], default=0) :]
            if word != "let" or not (before in ("", "struct") or ends_expression(before)):
                opened.append("let")
        elif word in CLOSING:
            opened += (word, "base") if word == "{" else (word,)
        before = word
    return opened


def close(opened: list[str], construct: str) -> None:
    """Close the innermost construct of a kind, and everything inside it."""
    for index in range(len(opened) - 1, -1, -1):
        if opened[index] == construct:
            del opened[index:]
            return
