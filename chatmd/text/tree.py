"""The tree of a document: elements and texts, each with its place (chatmd.md section 2.1).

Trees may be deeper than any call stack (ten thousand levels must work), so equality, hashing and `show`
walk them with a stack of their own.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from itertools import zip_longest

import attrs

from chatml.source import Source, Span

Attributes = tuple[tuple[str, str | None], ...]
"""Names and decoded values in the order written; None for a flag; repeated names are kept."""


@attrs.frozen(eq=False, repr=False)
class Text:
    """A run of text. `left` is the offset of its first character in the source.

    Where comments or RAW markers were cut out, `cuts` lists the pieces after the first: the offset in
    `text` at which a piece begins, and the offset in the source.
    """

    text: str
    source: Source
    left: int
    cuts: tuple[tuple[int, int], ...] = ()

    def offset(self, index: int) -> int:
        """The offset in the source of the character at an index of `text`.

        >>> from chatmd.text.parse import parse_tree
        >>> (user,) = parse_tree("<user>ab<!-- c -->d</user>")
        >>> user.children[0].offset(2)
        18
        """
        at = bisect.bisect_right(self.cuts, index, key=lambda cut: cut[0])
        start, left = self.cuts[at - 1] if at else (0, self.left)
        return left + index - start

    @property
    def span(self) -> Span:
        """From the first character to the last."""
        return self.source.span(self.left, self.offset(len(self.text)))

    def span_of(self, start: int, end: int) -> Span:
        """The span of `text[start:end]`, which is not empty."""
        return self.source.span(self.offset(start), self.offset(end - 1) + 1)

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Text) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return repr(self.text)


@attrs.frozen(eq=False, repr=False)
class Element:
    """A recognised element. Its start tag is `[left, right)` of the source, the whole of it ends at `end`.

    Equality is structural over `tag`, `attrs` and `children`, wherever they were written.
    """

    tag: str
    attrs: Attributes
    children: tuple[Node, ...]
    source: Source
    left: int
    right: int
    end: int

    @property
    def span(self) -> Span:
        """The start tag."""
        return self.source.span(self.left, self.right)

    @property
    def extent(self) -> Span:
        """The element from its start tag to its end tag."""
        return self.source.span(self.left, self.end)

    def attribute_range(self) -> tuple[int, int]:
        """The two offsets between which the start tag holds attributes."""
        left = self.left + len(self.tag) + 2
        right = self.right - 1
        if self.source.text[right - 1] == "/":
            right -= 1
        return min(left, right), right

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Element):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip_longest(flatten([self]), flatten([other])))

    def __hash__(self) -> int:
        return hash((self.tag, self.attrs, len(self.children)))

    def __repr__(self) -> str:
        return show([self])


Node = Element | Text


def flatten(nodes: Iterable[Node]) -> Iterator[Text | tuple[str, Attributes] | None]:
    """The nodes in document order without nesting: texts, (tag, attributes) where an element opens, None
    where it closes.
    """
    stack: list[Iterator[Node]] = [iter(nodes)]
    while stack:
        for node in stack[-1]:
            if isinstance(node, Text):
                yield node
            else:
                yield node.tag, node.attrs
                stack.append(iter(node.children))
                break
        else:
            stack.pop()
            if stack:
                yield None


def show(nodes: Iterable[Node]) -> str:
    """A tree as one line of text, in the notation of the conformance cases.

    >>> from chatmd.text.parse import parse_tree
    >>> print(show(parse_tree('<user>see <doc src="a" local/></user>')))
    user['see ', doc{src='a', local}[]]
    """
    parts: list[str] = []
    for event in flatten(nodes):
        if event is None:
            parts.append("]")
            continue
        if parts and not parts[-1].endswith("["):
            parts.append(", ")
        if isinstance(event, Text):
            parts.append(repr(event.text))
        else:
            tag, attributes = event
            inner = ", ".join(name if value is None else f"{name}={value!r}" for name, value in attributes)
            parts.append(f"{tag}{{{inner}}}[" if inner else f"{tag}[")
    return "".join(parts)
