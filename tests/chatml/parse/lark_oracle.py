"""Lark's own lexer and parser on the same grammar, to hold ours against."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lark import Lark
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

GRAMMAR = Path(__file__).resolve().parents[3] / "grammar" / "chatml.lark"


@cache
def lark() -> Lark:
    return Lark(GRAMMAR.read_text(encoding="utf-8"), parser="lalr", lexer="basic", start=["program", "expression"])


def blank_comments(text: str) -> str:
    """The text with spaces for its comments, and with `&`, which is not a token, from a comment on that never ends."""
    out: list[str] = []
    place = 0
    while place < len(text):
        if text[place] == '"':
            end = place + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" and text[end + 1 : end + 2] in ("\\", '"') else 1
            out.append(text[place : end + 1])
            place = end + 1
        elif text.startswith("(*", place):
            level, end = 1, place + 2
            while level and end < len(text):
                pair = text[end : end + 2]
                level += {"(*": 1, "*)": -1}.get(pair, 0)
                end += 2 if pair in ("(*", "*)") else 1
            if level:
                out.append("&")
                return "".join(out)
            out.append(" " * (end - place))
            place = end
        else:
            out.append(text[place])
            place += 1
    return "".join(out)


def first_error(text: str, start: str = "program") -> int | None:
    """The offset of the first error in a text, or None."""
    try:
        lark().parse(blank_comments(text), start=start)
    except UnexpectedCharacters as error:
        return len(text) if text[error.pos_in_stream] == '"' else error.pos_in_stream
    except UnexpectedToken as error:
        return len(text) if error.token.type == "$END" else error.token.start_pos
    return None
