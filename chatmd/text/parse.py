"""Tokens to a tree (chatmd.md section 2)."""

from __future__ import annotations

from chatmd.report.problems import ChatmdError, fault
from chatmd.text.attributes import WHITE
from chatmd.text.lexer import Kind, tokens
from chatmd.text.lines import decode
from chatmd.text.tree import Attributes, Element, Node, Text
from chatml.source import Source

Piece = tuple[int, str]
"""The offset of a piece of text in the source, and the piece."""


def parse_tree(text: str | bytes | Source, fragment: bool = False, *, name: str = "<prompt>") -> tuple[Node, ...]:
    """The elements of a document, in order (sections 1 and 2).

    `name` is what diagnostics call the text (unless it is a `Source`, which has a name and is taken as it is; bytes
    and strings are decoded as section 0.4 says). With `fragment`,
    text may stand at the top level and becomes `Text` nodes. Takes time linear in the text and no stack
    for its depth.

    Raises `ChatmdError` with the first problem in the text: `chatmd.unterminated_comment`, `_raw` or
    `_attribute`, `chatmd.top_level_text`, `chatmd.mismatched_tag`, `chatmd.unexpected_end_tag`,
    `chatmd.unclosed_element`.

    >>> parse_tree("<user>1 < 2, <b>really</b></user>")
    (user['1 < 2, <b>really</b>'],)
    >>> parse_tree("be kind", fragment=True)
    ('be kind',)
    """
    source = text if isinstance(text, Source) else Source(name, decode(text))
    children: list[Node] = []
    pieces: list[Piece] = []
    open_elements: list[tuple[str, Attributes, int, int, list[Node]]] = []
    for kind, left, right, value, attributes in tokens(source):
        if kind is Kind.TEXT:
            if open_elements or fragment:
                pieces.append((left, value))
            elif value.strip(WHITE):
                raise _top_level_text(source, left, value)
            continue
        if pieces:
            children.append(_text(source, pieces))
            pieces = []
        if kind is Kind.START:
            open_elements.append((value, attributes, left, right, children))
            children = []
        elif kind is Kind.SELF:
            children.append(Element(value, attributes, (), source, left, right, right))
        else:
            if not open_elements:
                raise fault("chatmd.unexpected_end_tag", source.span(left, right), close=value)
            tag, attributes, start, start_end, siblings = open_elements.pop()
            if tag != value:
                raise fault(
                    "chatmd.mismatched_tag",
                    source.span(left, right),
                    labels=[(source.span(start, start_end), "this element is open")],
                    open=tag,
                    close=value,
                )
            siblings.append(Element(tag, attributes, tuple(children), source, start, start_end, right))
            children = siblings
    if open_elements:
        tag, _, left, right, _ = open_elements[-1]
        raise fault("chatmd.unclosed_element", source.span(left, right), open=tag)
    if pieces:
        children.append(_text(source, pieces))
    return tuple(children)


def _text(source: Source, pieces: list[Piece]) -> Text:
    """One text node from neighbouring pieces."""
    left, text = pieces[0]
    if len(pieces) == 1:
        return Text(text, source, left)
    cuts = []
    length = len(text)
    for offset, piece in pieces[1:]:
        cuts.append((length, offset))
        length += len(piece)
    return Text("".join(piece for _, piece in pieces), source, left, tuple(cuts))


def _top_level_text(source: Source, left: int, value: str) -> ChatmdError:
    """The fault for a piece of text at the top level; a pipe is a token of its own (section 1.3, rule 5)."""
    start = len(value) - len(value.lstrip(WHITE))
    if value[0] == "<":
        token, end = value, len(value)
    elif value[start] == "|":
        token, end = "|", start + 1
    else:
        end = value.find("|", start)
        end = len(value) if end < 0 else end
        token = value[value.rfind("|", 0, start) + 1 : end]
    return fault("chatmd.top_level_text", source.span(left + start, left + end), token=token)
