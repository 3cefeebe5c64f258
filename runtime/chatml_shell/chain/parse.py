"""The parser of chains: one pass over the text, a word or an operator at a time."""

from __future__ import annotations

from collections.abc import Iterator

from chatml.diagnostics.errors import ChatmlError
from chatml_shell.plans.command import Command
from chatml_shell.plans.request import Chain, Link, Operator

WHITE = " \t\r\n"
SEPARATORS = frozenset("|;&<>")
REFUSED = frozenset("(){}`")


class ChainError(ChatmlError):
    """A text that is not a chain. `offset` counts bytes of UTF-8 from 0."""

    def __init__(self, message: str, offset: int) -> None:
        self.message = message
        self.offset = offset
        super().__init__(f"{message} (byte {offset})")


def parse_chain(text: str) -> Chain:
    """The chain that a text says. Raises `ChainError`.

    >>> chain = parse_chain("echo 'a b' | wc -c && echo done")
    >>> [(link.operator, [stage.argv for stage in link.stages]) for link in chain.links]
    [(';', [('echo', 'a b'), ('wc', '-c')]), ('&&', [('echo', 'done')])]
    """
    links: list[Link] = []
    stages: list[Command] = []
    words: list[str] = []
    operator: Operator = ";"
    for place, kind, value in _tokens(text):
        if kind == "word":
            words.append(value)
            continue
        if not words:
            raise _bad("a command is missing here", text, 0 if kind == "end" else place)
        stages.append(Command(words[0], tuple(words[1:])))
        words = []
        if value == "|":
            continue
        links.append(Link(operator, tuple(stages)))
        stages = []
        operator = "&&" if value == "&&" else "||" if value == "||" else ";"
    return Chain(tuple(links))


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text without operators. Raises `ChainError`.

    >>> words_of('git log "--format=%h %s"')
    ('git', 'log', '--format=%h %s')
    """
    words = []
    for place, kind, value in _tokens(text):
        if kind == "operator":
            raise _bad(f"`{value}` has no place among words", text, place)
        if kind == "word":
            words.append(value)
    return tuple(words)


def _tokens(text: str) -> Iterator[tuple[int, str, str]]:
    """Words and operators with the index where each begins; at the end a token `end`."""
    place = 0
    while place < len(text):
        character = text[place]
        if character in WHITE:
            place += 1
        elif character in SEPARATORS:
            two = text[place : place + 2]
            if character in "<>" or (character == "&" and two != "&&"):
                raise _bad(
                    f"`{character}` is not supported: a chain has neither redirection nor background", text, place
                )
            operator = two if two in ("&&", "||") else character
            yield place, "operator", operator
            place += len(operator)
        else:
            start = place
            place, word = _word(text, place)
            yield start, "word", word
    yield place, "end", ""


def _word(text: str, place: int) -> tuple[int, str]:
    """The word that begins at a place, its quotes taken away, and where it ends."""
    parts: list[str] = []
    while place < len(text) and text[place] not in WHITE and text[place] not in SEPARATORS:
        character = text[place]
        if character == "'":
            end = text.find("'", place + 1)
            if end < 0:
                raise _bad("this quote is never closed", text, place)
            parts.append(text[place + 1 : end])
            place = end + 1
        elif character == '"':
            place, quoted = _quoted(text, place)
            parts.append(quoted)
        elif character == "\\":
            if place + 1 == len(text):
                raise _bad("a backslash at the end escapes nothing", text, place)
            parts.append(text[place + 1])
            place += 2
        elif character in REFUSED or text.startswith("$(", place):
            raise _bad(f"`{character}` is not supported: nothing is substituted or grouped", text, place)
        else:
            parts.append(character)
            place += 1
    return place, "".join(parts)


def _quoted(text: str, start: int) -> tuple[int, str]:
    """The text between double quotes, and where it ends."""
    parts: list[str] = []
    place = start + 1
    while place < len(text):
        character = text[place]
        if character == '"':
            return place + 1, "".join(parts)
        if character == "`" or text.startswith("$(", place):
            raise _bad(f"`{character}` is not supported: nothing is substituted", text, place)
        if character == "\\" and place + 1 < len(text):
            place += 1
        parts.append(text[place])
        place += 1
    raise _bad("this quote is never closed", text, start)


def _bad(message: str, text: str, place: int) -> ChainError:
    return ChainError(message, len(text[:place].encode("utf-8", "surrogatepass")))
