"""Inline helpers: the cases M-042 to M-044, the network, and the bounds of what is brought in."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from chatmd import AgentCache, ChatmdError, Context, Document, to_input_items
from chatmd.elements.content import AgentItem, TextItem
from chatmd.request import html
from chatmd.request.http import HttpFetcher
from chatmd.sources.files import UnreadableError
from tests.chatmd.documents import findings, load, place, write


def brought_in(text: str, **context: Any) -> str:
    """The text that the one helper of a message brings in."""
    document = load(f"<user>{text}</user>")
    (item,) = to_input_items(document, Context(**{"dir": ".", "cwd": ".", **context}))
    (part,) = item["content"]
    return str(part.get("text", part.get("image_url")))


def refused(text: str, **context: Any) -> Any:
    (diagnostic,) = findings(lambda: brought_in(text, **context))
    assert place(diagnostic)[1] == len("<user>")
    return diagnostic


def test_m_042_html_is_stripped_or_made_markdown(tmp_path: Path) -> None:
    page = "<h1>T</h1>\n<p>a &amp; <b>b</b></p><script>x()</script>"
    write(tmp_path, page_html=page)
    assert brought_in('<doc src="page.html" local strip markdown/>', dir=str(tmp_path)) == "T\na &\nb"
    assert brought_in('<doc src="page.html" local markdown/>', dir=str(tmp_path)).startswith("# T\n\n")
    assert brought_in('<doc src="page.html" local/>', dir=str(tmp_path)) == page


def test_m_043_documents_are_also_found_in_the_working_directory(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    write(here, a_txt="A")
    write(there, b_txt="B")
    paths = {"dir": str(there), "cwd": str(here)}
    assert brought_in('<doc src="a.txt" local/>', **paths) == "A"
    assert brought_in(f'<doc src="{here}/a.txt" local/>', **paths) == "A"
    assert refused('<img src="a.txt" local/>', **paths).code == "chatmd.image_unavailable"
    assert brought_in(f'<img src="{here}/a.txt" local/>', **paths).startswith("data:image/jpeg;base64,")
    missing = refused('<doc src="c.txt" local/>', **paths)
    assert (missing.code, missing.data["src"]) == ("chatmd.doc_unavailable", "c.txt")


def test_m_044_a_sub_agent_runs_once_per_question(tmp_path: Path) -> None:
    write(tmp_path, s_chatmd="<system>be brief</system>")
    asked: list[list[dict[str, Any]]] = []

    def run(document: Document, context: Context) -> list[dict[str, Any]]:
        asked.append(to_input_items(document, context))
        parts = [{"type": "output_text", "text": text} for text in ("one", "two")]
        answer = {"type": "message", "role": "assistant", "id": "m", "content": parts}
        return [answer, {"type": "function_call"}, answer]

    agent = '<agent src="s.chatmd" local>q</agent>'
    document = load(f"<user>{agent}</user><user>{agent}</user>", tmp_path)
    ctx = Context(dir=str(tmp_path))
    items = to_input_items(document, ctx, run)
    assert [item["content"][0]["text"] for item in items] == ["one two\none two"] * 2
    assert [[item["role"] for item in one] for one in asked] == [["system", "user"]]
    assert asked[0][1]["content"] == [{"type": "input_text", "text": "q"}]
    to_input_items(load(f"<user>{agent.replace('q', 'p')}</user>", tmp_path), ctx, run)
    assert len(asked) == 2


def test_a_sub_agent_has_its_own_directory(tmp_path: Path) -> None:
    write(tmp_path, sub__s_chatmd="<user><doc src='n.txt' local/></user>", sub__n_txt="N")
    seen: list[object] = []

    def run(document: Document, context: Context) -> str:
        seen.append(to_input_items(document, context)[0]["content"][0]["text"])
        seen.append((context.dir, context.depth))
        return "answer"

    document = load('<assistant><agent src="sub/s.chatmd" local/></assistant>', tmp_path)
    (item,) = to_input_items(document, Context(dir=str(tmp_path)), run)
    assert item["content"][0]["text"] == "answer"
    assert seen == ["N", (str(tmp_path / "sub"), 1)]


def test_a_sub_agent_that_fails_is_reported(tmp_path: Path) -> None:
    write(tmp_path, s_chatmd="<user/>", bad_chatmd="text", loop_chatmd="<user><agent src='loop.chatmd' local/></user>")

    def run(document: Document, context: Context) -> str:
        raise RuntimeError("no model\nat all")

    def convert(src: str, runner: Any) -> Any:
        document = load(f'<user><agent src="{src}" local/></user>', tmp_path)
        (found,) = findings(lambda: to_input_items(document, Context(dir=str(tmp_path)), runner))
        return found

    assert convert("s.chatmd", run).data["why"] == "no model"
    assert "runs no sub-agents" in convert("s.chatmd", None).message
    assert "text stands outside" in convert("bad.chatmd", run).message
    assert convert("gone.chatmd", run).code == "chatmd.doc_unavailable"

    def again(document: Document, context: Context) -> str:
        return str(to_input_items(document, context, again))

    assert convert("loop.chatmd", again).code == "chatmd.agent_failed"


def test_answers_are_kept_for_a_day_and_between_runs(tmp_path: Path) -> None:
    now = [1000.0]
    path = tmp_path / "data" / "agents.json"
    cache = AgentCache(path, most=2, clock=lambda: now[0])
    one, two, three = (AgentItem("s", True, (TextItem(text),)) for text in "123")
    cache.put(one, "1")
    cache.put(two, "2")
    assert cache.get(one) == "1"
    cache.put(three, "3")
    assert [cache.get(item) for item in (one, two, three)] == ["1", None, "3"]
    assert AgentCache(path, clock=lambda: now[0]).get(AgentItem("s", True, (TextItem("3"),))) == "3"
    assert AgentCache(path).get(AgentItem("s", False, (TextItem("3"),))) is None
    now[0] += 24 * 60 * 60 + 1
    assert cache.get(one) is None
    assert os.stat(path).st_mode & 0o777 == 0o600
    for damaged in ("", "[]", "{}", '{"format": "chatmd-agent-cache-1", "answers": [1]}', "\xff"):
        path.write_bytes(damaged.encode("latin-1"))
        assert AgentCache(path).answers == {}


def test_nothing_is_fetched_unless_the_host_says_so() -> None:
    diagnostic = refused('<doc src="https://example.com/x"/>')
    assert diagnostic.code == "chatmd.doc_unavailable"
    assert "network" in diagnostic.message
    assert diagnostic.help is not None


def test_a_fetcher_gets_the_whole_url_and_may_fail() -> None:
    asked = []

    def fetch(url: str) -> bytes:
        asked.append(url)
        if "bad" in url:
            raise KeyError("odd")
        return b"\xef\xbb\xbfhi \xff"

    assert brought_in('<doc src="https://x/y?a=1&amp;b=2#f"/>', fetch=fetch) == "hi \ufffd"
    assert asked == ["https://x/y?a=1&b=2#f"]
    assert refused('<doc src="https://bad"/>', fetch=fetch).data["why"] == "'odd'"


def test_a_compressed_page_is_stripped() -> None:
    page = gzip.compress(b"<p>hi</p>")
    assert brought_in('<doc src="u" strip/>', fetch=lambda url: page) == "hi"
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert "decompressed" in refused('<doc src="u" strip/>', fetch=lambda url: bomb).message
    assert "damaged" in refused('<doc src="u" strip/>', fetch=lambda url: b"\x1f\x8bxyz").message


@pytest.mark.parametrize("name", ["pipe", "folder", "device"])
@pytest.mark.parametrize("tag", ["doc", "img"])
def test_only_regular_files_are_brought_in(name: str, tag: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")
    begin = time.monotonic()
    diagnostic = refused(f'<{tag} src="{name}" local/>', dir=str(tmp_path), cwd=str(tmp_path))
    assert diagnostic.code.endswith("_unavailable")
    assert "no such file" not in diagnostic.message
    assert time.monotonic() - begin < 1


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<h2>A  b</h2><p>c</p><p>d</p>", "## A b\n\nc\n\nd"),
        ("<ul><li>a</li><li>b</li></ul>", "* a\n\n* b"),
        ('<ol start="3"><li>a</li><li>b</li></ol>', "3. a\n\n4. b"),
        ("<ul><li>a<ul><li>b</li></ul></li></ul>", "* a\n  * b"),
        ("<p><code>a``b</code></p>", "``` a``b ```"),
        ('<a href="u">a]b</a>', "[a\\]b](u)"),
        ('<a href="u">u</a>', "[u](u)"),
        ('<img alt="x" src="y">', "![x](y)"),
        ("<em>a</em> <strong>b</strong>", "*a* **b**"),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<p>a</p><script>x</script><style>y</style>", "a"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_markdown(page: str, text: str) -> None:
    assert html.markdown(page) == text


@pytest.mark.parametrize(
    "page",
    [
        "<!--" * 100_000,
        "<a" * 200_000,
        "<?" * 100_000 + ">",
        "<a b='" * 50_000 + ">",
        "<![CDATA[" * 30_000 + "]]>",
        "<b>" * 50_000,
        "<li>" * 30_000,
    ],
)
def test_hostile_pages_end(page: str) -> None:
    begin = time.process_time()
    html.strip(page)
    html.markdown(page)
    assert time.process_time() - begin < 20


def test_a_page_that_cannot_be_converted_comes_back() -> None:
    deep = "<div>" * 3000 + "x"
    assert html.markdown(deep) == f"```html\n{deep}\n```"
    with pytest.raises(html.HtmlError):
        html.strip("x" * (html.LARGEST + 1))


def test_neither_html_nor_http_is_imported_before_it_is_used() -> None:
    code = "import sys, chatmd; print([m for m in ('bs4', 'markdownify', 'httpx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def answering(response: httpx.Response) -> HttpFetcher:
    return HttpFetcher(limit=1000, seconds=1, transport=httpx.MockTransport(lambda request: response))


class Endless(httpx.SyncByteStream):
    """A body that drips for ever."""

    def __iter__(self) -> Iterator[bytes]:
        while True:
            time.sleep(0.05)
            yield b"x"


def test_the_fetcher_is_bounded() -> None:
    with answering(httpx.Response(200, content=b"ok")) as fetcher:
        assert fetcher("https://x/y") == b"ok"
    for response, why in (
        (httpx.Response(404), "404"),
        (httpx.Response(200, content=b"x" * 1001), "1000 bytes"),
        (httpx.Response(200, stream=Endless()), "1 seconds"),
        (httpx.Response(302, headers={"location": "https://x/y"}), "redirect"),
    ):
        with answering(response) as fetcher, pytest.raises(UnreadableError, match=why):
            fetcher("https://x/y")
    for url in ("file:///etc/passwd", "ftp://x", "x", "http://\0"):
        with answering(httpx.Response(200)) as fetcher, pytest.raises(UnreadableError):
            fetcher(url)


def test_a_server_that_never_answers_is_left() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        accepted: list[socket.socket] = []
        waiter = threading.Thread(target=lambda: accepted.append(server.accept()[0]))
        waiter.start()
        with HttpFetcher(seconds=0.5) as fetcher:
            diagnostic = refused(f'<doc src="http://127.0.0.1:{port}/"/>', fetch=fetcher)
        waiter.join()
        accepted[0].close()
    assert diagnostic.code == "chatmd.doc_unavailable"


def test_errors_of_a_nested_conversion_reach_the_caller(tmp_path: Path) -> None:
    write(tmp_path, s_chatmd="<user/>")

    def run(document: Document, context: Context) -> str:
        return str(to_input_items(load('<msg role="x"/>')))

    document = load('<user><agent src="s.chatmd" local/></user>', tmp_path)
    with pytest.raises(ChatmdError) as raised:
        to_input_items(document, Context(dir=str(tmp_path)), run)
    assert raised.value.diagnostics[0].code == "chatmd.agent_failed"
