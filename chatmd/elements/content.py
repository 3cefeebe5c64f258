"""The content of messages and tool traces: text, images, documents and sub-agents (chatmd.md sections 5.4
and 5.8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest

import attrs

from chatmd.elements.reading import Reading, lenient, literal_import
from chatmd.text.attributes import present, value
from chatmd.text.tree import Element, Node, Text
from chatml.source import Span


@attrs.frozen
class TextItem:
    """A piece of text."""

    text: str


@attrs.frozen
class ImageItem:
    """An image: a URL that the model fetches, or with `local` a file that is inlined."""

    url: str
    local: bool = False
    span: Span | None = attrs.field(default=None, eq=False, repr=False, kw_only=True)


@attrs.frozen
class DocItem:
    """A document whose text is inlined; `strip` or `markdown` turn HTML into text."""

    url: str
    local: bool = False
    strip: bool = False
    markdown: bool = False
    span: Span | None = attrs.field(default=None, eq=False, repr=False, kw_only=True)


@attrs.frozen(eq=False, repr=False)
class AgentItem:
    """Another prompt that runs as a sub-agent on the items it is given; its answer is inlined.

    Agents may be nested deeper than any call stack, so comparing them does not recurse.
    """

    url: str
    local: bool = False
    items: tuple[Item, ...] = ()
    span: Span | None = attrs.field(default=None, eq=False, kw_only=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AgentItem):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip_longest(flatten([self]), flatten([other])))

    def __hash__(self) -> int:
        return hash((self.url, self.local, len(self.items)))

    def __repr__(self) -> str:
        return f"AgentItem({self.url!r}, local={self.local}, {len(self.items)} items)"


Item = TextItem | ImageItem | DocItem | AgentItem
Content = None | str | tuple[Item, ...]
"""Nothing, exactly one text, or several items."""

Leaf = TextItem | ImageItem | DocItem


def flatten(items: Iterable[Item]) -> Iterator[Leaf | tuple[str, bool] | None]:
    """Items in order without nesting: leaves, (url, local) where an agent opens, None where it closes."""
    stack: list[Iterator[Item]] = [iter(items)]
    while stack:
        for item in stack[-1]:
            if isinstance(item, AgentItem):
                yield item.url, item.local
                stack.append(iter(item.items))
                break
            yield item
        else:
            stack.pop()
            if stack:
                yield None


def read_content(element: Element, reading: Reading) -> Content:
    """The content of a message-like element: adjacent texts merged, elements that mean nothing here left
    out.
    """
    children = element.children
    if len(children) == 1 and isinstance(children[0], Text):
        return children[0].text
    items = read_items(element, reading)
    if not items:
        return None
    if len(items) == 1 and isinstance(items[0], TextItem):
        return items[0].text
    return items


@attrs.define
class _Open:
    """An element whose children are being read."""

    element: Element
    children: Iterator[Node]
    items: list[Item]
    text: list[str]

    @classmethod
    def of(cls, element: Element) -> _Open:
        return cls(element, iter(element.children), [], [])

    def add(self, item: Item) -> None:
        self.close()
        self.items.append(item)

    def close(self) -> None:
        """Make one item of the texts since the last one."""
        if self.text:
            self.items.append(TextItem("".join(self.text)))
            self.text = []


def read_items(element: Element, reading: Reading) -> tuple[Item, ...]:
    """The items of an element, sub-agents with their own; nesting takes no call stack."""
    stack = [_Open.of(element)]
    while True:
        top = stack[-1]
        for child in top.children:
            if isinstance(child, Text):
                top.text.append(child.text)
            elif child.tag == "import":
                top.text.append(literal_import(child))
            elif child.tag == "agent":
                stack.append(_Open.of(child))
                break
            elif child.tag in LEAVES:
                top.add(LEAVES[child.tag](child, reading))
            else:
                reading.ignore(child, top.element)
        else:
            top.close()
            stack.pop()
            if not stack:
                return tuple(top.items)
            stack[-1].add(_read_agent(top.element, tuple(top.items), reading))


def _read_agent(element: Element, items: tuple[Item, ...], reading: Reading) -> AgentItem:
    url = reading.required(element, {"src": value(element, "src") or ""}, "src")
    return AgentItem(url, present(element, "local"), items, span=element.span)


def _read_doc(element: Element, reading: Reading) -> DocItem:
    given = lenient(element)
    url = reading.required(element, given, "src")
    return DocItem(url, "local" in given, "strip" in given, "markdown" in given, span=element.span)


def _read_image(element: Element, reading: Reading) -> ImageItem:
    given = lenient(element)
    return ImageItem(reading.required(element, given, "src"), "local" in given, span=element.span)


LEAVES: dict[str, Callable[[Element, Reading], Item]] = {"doc": _read_doc, "img": _read_image}
