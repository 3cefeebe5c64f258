"""What inline helpers bring in: documents, images, sub-agents (chatmd.md section 13).

A `Context` says where and through what. Local files go through its reader; the network is reached only through the
fetcher that a host puts in, and without one every remote document is refused.
"""

from __future__ import annotations

import base64
import importlib
import os.path
from collections.abc import Callable
from types import ModuleType

import attrs

from chatmd.elements.content import DocItem, ImageItem
from chatmd.report.problems import fault
from chatmd.request.agent_cache import AgentCache
from chatmd.sources.files import MIB, Reader, read_regular, reason
from chatmd.text.lines import decode
from chatml.source import Span

REMOTE_BYTES = 5_000_000
LOCAL_BYTES = 64 * MIB
IMAGE_BYTES = 32 * MIB

MIME = {
    "bmp": "image/bmp",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webp": "image/webp",
}
OTHER_MIME = "image/jpeg"

Fetch = Callable[[str], bytes]
"""Fetches a URL; any exception says that it could not."""


@attrs.frozen(kw_only=True)
class Context:
    """Where and through what a document's helpers find what they bring in.

    `dir` is the directory of the prompt, `cwd` and `tool_dir` the process's and the host's launch directory;
    `reader` reads local files, `fetch` remote documents (None: none is fetched), `agent_cache` keeps the answers of
    sub-agents. `depth` counts how many sub-agents this prompt is inside of.
    """

    dir: str
    cwd: str = attrs.field(factory=os.getcwd)
    tool_dir: str = attrs.field(factory=os.getcwd)
    reader: Reader = read_regular
    fetch: Fetch | None = None
    agent_cache: AgentCache = attrs.field(factory=AgentCache)
    depth: int = 0


def document_text(item: DocItem, context: Context) -> str:
    """The text that a `<doc>` brings in (section 13.2). Raises `ChatmdError` (`chatmd.doc_unavailable`)."""
    _, data = fetch(item.url, item.local, item.span, context)
    if not item.strip and not item.markdown:
        return decode(data)
    html = _html(item)
    try:
        return str(html.strip(decode(html.decompress(data))) if item.strip else html.markdown(decode(data)))
    except html.HtmlError as error:
        raise _unavailable(item.url, item.span, str(error)) from None


def fetch(url: str, local: bool, span: Span | None, context: Context) -> tuple[str, bytes]:
    """The bytes of a document, and the directory that it stands in (the prompt's own for a remote one).

    Raises `ChatmdError` (`chatmd.doc_unavailable`).
    """
    if local:
        return _read_local(url, span, context)
    if context.fetch is None:
        raise _unavailable(url, span, "this host fetches nothing from the network", local=False)
    try:
        data = context.fetch(url)
    except Exception as error:
        # A fetcher is the host's: whatever it raises, the document is not available.
        why = reason(error) if isinstance(error, OSError) else str(error) or type(error).__name__
        raise _unavailable(url, span, why) from None
    return context.dir, data


def _read_local(src: str, span: Span | None, context: Context) -> tuple[str, bytes]:
    """A local file: beside the prompt, else in the working directory; an absolute path is just that."""
    places = [src] if os.path.isabs(src) else [os.path.join(place, src) for place in (context.dir, context.cwd)]
    reasons = []
    for path in places:
        try:
            return os.path.dirname(path), context.reader(path, LOCAL_BYTES)
        except OSError as error:
            reasons.append(reason(error))
    why = next((one for one in reasons if one != "no such file"), reasons[0])
    raise _unavailable(src, span, why)


def _unavailable(src: str, span: Span | None, why: str, *, local: bool = True) -> Exception:
    advice = None if local else "write `local` to read a file, or let the host hand over a fetcher"
    return fault("chatmd.doc_unavailable", span, help=advice, src=src, why=why)


def _html(item: DocItem) -> ModuleType:
    """The module that converts HTML, loaded when the first document asks for it."""
    try:
        return importlib.import_module("chatmd.request.html")
    except ImportError:
        why = "converting HTML needs the packages of `chatml-toolkit[html]`, which are not installed"
        raise _unavailable(item.url, item.span, why) from None


def image_url(item: ImageItem, context: Context) -> str:
    """The URL of an image: as written, or for a local one its data (section 13.3).

    Raises `ChatmdError` (`chatmd.image_unavailable`).
    """
    if not item.local:
        return item.url
    try:
        data = context.reader(os.path.join(context.dir, item.url), IMAGE_BYTES)
    except OSError as error:
        raise fault("chatmd.image_unavailable", item.span, src=item.url, why=reason(error)) from None
    extension = os.path.splitext(item.url)[1].lower().removeprefix(".")
    return f"data:{MIME.get(extension, OTHER_MIME)};base64,{base64.b64encode(data).decode('ascii')}"
