"""HTML to text and to Markdown (chatmd.md section 13.2).

Imported only when a document asks for it: it needs the extra `chatml-toolkit[html]` (Beautiful Soup and markdownify).
"""

from __future__ import annotations

import time
import zlib

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

LARGEST = 5_000_000
"""The characters (bytes, when compressed) of HTML that are converted at most."""

SECONDS = 10.0
GZIP = b"\x1f\x8b"
BASE = vars(MarkdownConverter)
"""The methods that are built upon; the type stubs of markdownify leave them out."""

UNCLOSED = (("<!--", "-->"), ("<![", "]>"), ("<", ">"))


class HtmlError(ValueError):
    """HTML that is not converted; its message says why, as a sentence without a full stop."""


def strip(html: str) -> str:
    """The text of an HTML page: its text nodes, each stripped, one a line, without scripts and styles.

    Raises `HtmlError` for a page that is too large.

    >>> strip("<h1>T</h1><p>a &amp; <b>b</b></p><script>x()</script>")
    'T\\na &\\nb'
    """
    return _soup(html).get_text("\n", strip=True)


def markdown(html: str) -> str:
    """An HTML page as Markdown; a page that cannot be converted comes back in a code fence.

    >>> print(markdown("<h1>T</h1><ul><li>a</li><li><code>b`c</code></li></ul>"))
    # T
    <BLANKLINE>
    * a
    <BLANKLINE>
    * `` b`c ``
    """
    try:
        return str(_Markdown().convert_soup(_soup(html)))
    except (HtmlError, RecursionError, TimeoutError, ValueError, TypeError, AttributeError):
        return f"```html\n{html}\n```"


def decompress(data: bytes) -> bytes:
    """A payload as it is, or what a gzip payload holds. Raises `HtmlError` when that is damaged or too large."""
    if not data.startswith(GZIP):
        return data
    stream = zlib.decompressobj(wbits=31)
    try:
        content = stream.decompress(data, LARGEST + 1)
    except zlib.error:
        raise HtmlError("its gzip compression is damaged") from None
    if len(content) > LARGEST:
        raise HtmlError(f"it is larger than {LARGEST} bytes when decompressed")
    return content


def _soup(html: str) -> BeautifulSoup:
    """The page as a tree. What can never be closed cannot be markup: it is made text beforehand.

    Python's parser looks for the end of every opener up to the end of the page, so a page of nothing but openers
    would take it time that grows with the square of its length.
    """
    if len(html) > LARGEST:
        raise HtmlError(f"it is larger than {LARGEST} characters")
    for opener, closer in UNCLOSED:
        end = html.rfind(closer) + len(closer) if closer in html else 0
        html = html[:end] + html[end:].replace(opener, "&lt;" + opener[1:])
    # The element around the page keeps Beautiful Soup from guessing that a short text is a file name or XML.
    return BeautifulSoup(f"<div>{html}</div>", "html.parser")


class _Markdown(MarkdownConverter):
    """Markdown as section 13.2 asks for it, within a time bound."""

    def __init__(self) -> None:
        super().__init__(heading_style="ATX", bullets="*", autolinks=False)
        self.deadline = time.monotonic() + SECONDS
        self.items: dict[int, int] = {}

    def process_tag(self, node: Tag, parent_tags: set[str] | None = None) -> str:
        if time.monotonic() > self.deadline:
            raise TimeoutError("the page takes too long to convert")
        return str(BASE["process_tag"](self, node, parent_tags))

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return str(BASE["convert_a"](self, el, text.replace("]", "\\]"), parent_tags))

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An item with its bullet or number, its further lines indented by two, an empty line after it."""
        parent = el.parent
        bullet = "*"
        if parent is not None and parent.name == "ol":
            start = str(parent.get("start") or "")
            number = self.items.get(id(parent), int(start) if start.isdecimal() and len(start) < 10 else 1)
            self.items[id(parent)] = number + 1
            bullet = f"{number}."
        lines = (text or "").strip().split("\n")
        indented = [f"  {line}" if line else "" for line in lines[1:]]
        return "\n".join([f"{bullet} {lines[0]}".rstrip(), *indented]) + "\n\n"
