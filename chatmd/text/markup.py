"""Text and tags as ChatMD writes them: the exact inverse of the lexer (chatmd.md sections 1.6, 15.1 and
15.2).
"""

from __future__ import annotations

from collections.abc import Iterable

from chatmd.text import attributes
from chatmd.text.lexer import RAW, RAW_END
from chatml.source import Span

Written = str | bool | None
"""An attribute to write: a value, a flag when True, nothing when False or None."""


def text(content: str) -> str:
    """A text as the body of an element: as it is when it is plain, else in RAW blocks.

    >>> text("hello"), text(""), text("a < b")
    ('hello', 'RAW||RAW', 'RAW|a < b|RAW')
    """
    if not content:
        return RAW + RAW_END
    return content if is_plain(content) else raw(content)


def is_plain(content: str) -> bool:
    """Whether a text means itself inside of an element."""
    return "<" not in content and RAW not in content


def raw(content: str) -> str:
    """A text in RAW blocks: one, or several around each terminator that it holds (section 1.6).

    >>> raw("a|RAWb"), raw("a|RAW")
    ('RAW|a|RAW|RAWRAW|b|RAW', 'RAW|a|RAW|RAW')
    """
    pieces = content.split(RAW_END)
    if len(pieces) > 1 and not pieces[-1]:
        # The text ends in a terminator: an empty block behind it is not needed.
        return RAW + inside_raw(RAW_END.join(pieces[:-1])) + RAW_END + RAW_END
    return RAW + inside_raw(content) + RAW_END


def inside_raw(content: str) -> str:
    """A text for the inside of a RAW block: each terminator in it closes the block, stands as text, opens the next."""
    return content.replace(RAW_END, RAW_END + RAW_END + RAW)


def framed(content: str) -> str:
    """A text in RAW blocks on lines of its own; conversion takes the frame away again (sections 12.3 and
    14.2).

    >>> framed("x")
    '\\nRAW|\\nx\\n|RAW\\n'
    """
    return "\n" + raw("\n" + content + "\n") + "\n"


def opening(tag: str, given: Iterable[tuple[str, Written]], span: Span | None = None) -> str:
    """A start tag without its end: `<tag a="1" flag`. Raises `ChatmdError`
    (`chatmd.unserialisable_attribute`).

    >>> opening("doc", [("src", "a"), ("local", True), ("strip", False), ("name", None)])
    '<doc src="a" local'
    """
    parts = [f"<{tag}"]
    for name, value in given:
        if value is True:
            parts.append(name)
        elif isinstance(value, str):
            parts.append(attributes.encode(name, value, span))
    return " ".join(parts)


def empty(tag: str, given: Iterable[tuple[str, Written]], span: Span | None = None) -> str:
    """An element without children."""
    return f"{opening(tag, given, span)}/>"


def element(tag: str, given: Iterable[tuple[str, Written]], body: str, span: Span | None = None) -> str:
    """An element around a body that is markup already."""
    return f"{opening(tag, given, span)}>{body}</{tag}>"
