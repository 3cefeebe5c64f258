"""Invariants of texts, trees and documents; each test says its own in its first line."""

from __future__ import annotations

import contextlib
import os.path
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chatmd
from chatmd import ChatmdError, Document, dumps, parse_tree
from chatmd.elements.script import Src
from chatmd.sources.files import is_below, read_regular
from chatmd.text import markup
from chatmd.text.attributes import encode, places, scan
from chatmd.text.lexer import tokens
from chatmd.text.tags import BASE_TAGS
from chatmd.text.tree import Element, Node, Text
from chatml.source import Source
from tests.chatmd.documents import load
from tests.chatmd.slow_lexer import SlowError, SlowLexer, Token, merged

PIECES = [
    *("<", ">", "</", "/>", "<<", "<!--", "-->", "<!-->", "RAW|", "|RAW", "RAW", "|", "xRAW|", " RAW|", "\n\tRAW|"),
    *("<user>", "</user>", "<user/>", "<msg role='a'>", "</msg>", "</user >", "<b>", "</b>", "<x t='a>"),
    *("<shell_access>", "</shell_access>", "<tool type='shell'>", "<tool name=read_file type='x'>", "</tool>"),
    *("<set/>", "<any>", "</any>", "<tool name='x' name='read_file'>", "<doc src=", "src", "=", '"', "'", "\\"),
    *("&", ";", "&amp;", "&lt;", "amp", " ", "\n", "\v", "\f", "\u00a0", "\u2028", "a", "\u00e4", "\ud800", "\0"),
    *("local", ":", "-", ",", "<doc src='x' local", "name = ", "<summary>", "<import src='q'/>", "</import>"),
]
markup_texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.text(max_size=40),
    st.text("<>RAW|/= '\"", max_size=40),
)


@given(markup_texts, st.booleans())
@settings(max_examples=400)
def test_parsing_raises_nothing_but_its_own_error(text: str, fragment: bool) -> None:
    """`parse_tree` returns or raises a `ChatmdError` with one placed finding, for any text."""
    try:
        parse_tree(text, fragment)
    except ChatmdError as error:
        (diagnostic,) = error.diagnostics
        assert diagnostic.span is not None
        assert 0 <= diagnostic.span.left < diagnostic.span.right <= len(text)
        assert diagnostic.code in str(diagnostic)


def fast(text: str) -> list[Token]:
    return [(token[0].name, token[3], list(token[4])) for token in tokens(Source("text", text))]


def slow(text: str) -> list[Token]:
    return SlowLexer(text).run()


def outcome(lex: Callable[[str], list[Token]], text: str) -> list[Token] | tuple[str, int]:
    """The merged tokens of a text, or code and offset of its first error."""
    try:
        return merged(lex(text))
    except SlowError as error:
        return f"chatmd.{error.code}", error.offset
    except ChatmdError as error:
        (diagnostic,) = error.diagnostics
        return diagnostic.code, -1 if diagnostic.span is None else diagnostic.span.left


@given(markup_texts)
@settings(max_examples=600)
def test_the_lexer_follows_the_token_rules(text: str) -> None:
    """The lexer gives the tokens, or the first error, that the rules give when followed to the letter."""
    assert outcome(fast, text) == outcome(slow, text)


@given(markup_texts)
def test_texts_know_their_places(text: str) -> None:
    """Every character of a text node stands in the source at the offset that the node says."""
    try:
        nodes: list[Node] = list(parse_tree(text, True))
    except ChatmdError:
        return
    while nodes:
        node = nodes.pop()
        if isinstance(node, Text):
            for index, character in enumerate(node.text):
                assert node.source.text[node.offset(index)] == character
        else:
            nodes += node.children
            assert len(places(node)) == len(node.attrs)
            assert node.span.text.startswith(f"<{node.tag}")


@given(st.text(max_size=30), st.booleans())
def test_attributes_read_back(value: str, flag: bool) -> None:
    """What `encode` writes, `scan` reads as the same value, whatever follows it."""
    try:
        written = encode("name", value)
    except ChatmdError:
        assert value.endswith("\\")
        return
    text = f"<img {written}{' local' if flag else ''}/>"
    (element,) = parse_tree(Source("text", text))
    assert isinstance(element, Element)
    assert element.attrs == (("name", value), *([("local", None)] if flag else []))
    assert scan(Source("text", written), 0, len(written)) == (("name", value),)


@given(markup_texts.filter(lambda text: "\ud800" not in text))
def test_texts_read_back(text: str) -> None:
    """What `markup.text`, `raw` and `framed` write reads back as the text, in the frame for `framed`."""
    for written, expected in (
        (markup.text(text), text),
        (markup.raw(text), text),
        (markup.framed(text), f"\n{text}\n\n"),
    ):
        (element,) = parse_tree(f"<user>{written}</user>")
        assert isinstance(element, Element)
        (child,) = element.children
        assert isinstance(child, Text)
        assert child.text == expected


def writable(value: str) -> bool:
    try:
        encode("name", value)
    except ChatmdError:
        return False
    return not any("\ud800" <= character <= "\udfff" for character in value)


values = st.one_of(
    st.sampled_from(["", "a", " a b", "C:\\", 'a="\\', "x\\ ", "1", "tool"]), st.text(max_size=8)
).filter(writable)
bodies = st.one_of(st.text(max_size=12), markup_texts).filter(
    lambda text: not any("\ud800" <= character <= "\udfff" for character in text)
)


def attributes(*names: str, flags: tuple[str, ...] = ()) -> st.SearchStrategy[list[tuple[str, markup.Written]]]:
    pairs = [st.tuples(st.just(name), st.one_of(st.just(True), values)) for name in names]
    marks = [st.tuples(st.just(name), st.booleans()) for name in flags]
    return st.lists(st.one_of(*pairs, *marks), max_size=5)


def required(*names: str) -> st.SearchStrategy[list[tuple[str, markup.Written]]]:
    filled = values.filter(bool)
    return st.tuples(*(st.tuples(st.just(name), filled) for name in names)).map(list)


def element(
    tag: str, inside: st.SearchStrategy[str], *parts: st.SearchStrategy[list[tuple[str, markup.Written]]]
) -> st.SearchStrategy[str]:
    given_attributes = st.tuples(*parts).map(lambda lists: [pair for one in lists for pair in one])
    return st.builds(lambda pairs, body: markup.element(tag, pairs, body), given_attributes, inside)


leaf = st.one_of(
    bodies.map(markup.text),
    element("doc", st.just(""), required("src"), attributes("x", flags=("local", "strip", "markdown"))),
    element("img", st.just(""), required("src"), attributes(flags=("local",))),
    element("config", st.just("")),
    st.just("<!-- note -->"),
    st.just(" "),
)
content = st.recursive(
    st.lists(leaf, max_size=4).map("".join),
    lambda inner: element("agent", inner, required("src"), attributes(flags=("local",))),
    max_leaves=6,
)
known = ("type", "name", "id", "status", "phase", "unknown")
nothing: list[tuple[str, markup.Written]] = []
numbered: list[tuple[str, markup.Written]] = [("ochat-history-id", "2:\u00e4:7")]
identity = st.sampled_from([nothing, numbered])
message_tags = st.sampled_from(["user", "assistant", "system", "developer"])
elements = st.one_of(
    message_tags.flatmap(lambda tag: element(tag, content, attributes(*known), identity)),
    element("msg", content, attributes("role", *known), required("role")),
    element(
        "tool_call",
        st.one_of(bodies.map(markup.framed), bodies.map(markup.text)),
        required("function_name", "tool_call_id"),
        attributes("type", "id"),
    ),
    element("tool_response", content, required("tool_call_id"), attributes("type", "id", "name")),
    element(
        "reasoning",
        st.lists(element("summary", bodies.map(markup.text), attributes("type")), max_size=3).map(" ".join),
        required("id"),
        attributes("status"),
    ),
    element("config", st.just(""), attributes("model", "id", flags=("show_tool_call",))),
    element("tool", st.just("junk"), required("name"), attributes("description")),
    element("tool", st.just(""), required("name", "command"), attributes("description")),
    element("tool", st.just(""), required("name", "agent"), attributes("description", flags=("local",))),
    element("tool", st.just(""), required("mcp_server"), attributes("name", "include", "includes", flags=("strict",))),
    element(
        "tool",
        st.lists(element("read", st.just(""), required("id"), st.just([("path", "${source_dir}/x")])), max_size=1).map(
            "".join
        ),
        st.just([("name", "read_file")]),
    ),
    element(
        "shell_access",
        st.lists(st.sampled_from(["<limits wall_time='2s'/>", "<policy><rule id='a'><all/></rule></policy>", " "])).map(
            "".join
        ),
        required("id"),
    ),
    element(
        "script",
        bodies.map(lambda text: markup.text(text + "x")),
        st.just([("language", "chatml"), ("kind", "moderator"), ("fuel", "7")]),
    ),
)


@given(st.lists(elements, max_size=6).map("\n".join))
@settings(max_examples=150)
def test_documents_read_back(text: str) -> None:
    """`load(dumps(document))` equals the document, for every document that loads and has a text."""
    try:
        document = load(text)
    except ChatmdError:
        return
    written = dumps_or_none(document)
    if written is not None:
        again = load(written)
        assert again == document
        assert dumps(again) == written
        assert not again.warnings


def dumps_or_none(document: Document) -> str | None:
    """The text, or None where a value lost the white space behind its last backslash: it has none (section 15.2)."""
    try:
        return dumps(document)
    except ChatmdError as error:
        if [one.code for one in error.diagnostics] == ["chatmd.unserialisable_attribute"]:
            return None
        raise


NAMES = [
    *("name", "kind", "language", "src", "role", "id", "path", "command", "include", "mcp_server", "fuel", "agent"),
    *("tool_call_id", "function_name", "ochat-history-id", "max_tokens", "temperature", "tool_call", "local", "status"),
    *("type", "namespace", "wall_time", "reasoning_effort", "runtime", "strict", "description", "phase"),
]
VALUES = [
    *("read_file", " get_contents", "moderator", "shell_matcher", "chatml", "user", "tool", "assistant", "1:a:1"),
    *("x", "", " ", "${home}/a", "${nope}", "/", "7", "1e999", "high", "missing", "apply_patch", "shell", "a,b", ","),
    *("custom_tool_call", "http://x", "../x", "5s", "\0", "\u00e4"),
]
TAGS = sorted(BASE_TAGS | {"read", "write"})
loose = st.lists(
    st.tuples(st.sampled_from(NAMES), st.one_of(st.just(True), st.sampled_from(VALUES))), max_size=6, unique=True
)
nodes = st.recursive(
    st.one_of(st.sampled_from([" ", "text", "RAW||RAW", "<b>", "<!-- -->"]), st.just("")),
    lambda inner: st.builds(markup.element, st.sampled_from(TAGS), loose, st.lists(inner, max_size=3).map("".join)),
    max_leaves=6,
)


@given(st.lists(st.builds(markup.element, st.sampled_from(TAGS), loose, nodes), max_size=3).map("".join))
@settings(max_examples=500)
def test_a_document_raises_nothing_but_its_own_error(text: str) -> None:
    """Loading, describing, converting and writing return or raise a `ChatmdError`, for any tree of elements."""
    with contextlib.suppress(ChatmdError):
        document = load(text, "/nowhere")
        chatmd.describe(document)
        dumps(document)


steps = st.lists(
    st.sampled_from(["..", ".", "sub", "link", "up", "file.md", "script.chatml", "", "root.md"]), min_size=1, max_size=6
)
sources = st.builds(
    lambda lead, parts, slash: lead + slash.join(parts), st.sampled_from(["", "/", "./"]), steps, st.sampled_from("/\\")
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a root inside, and links that lead out of it and back in."""
    top = tmp_path_factory.mktemp("confined")
    for place in (top, top / "root", top / "root" / "sub"):
        place.mkdir(exist_ok=True)
        (place / "file.md").write_text("<import src='up/file.md'/>x")
        (place / "script.chatml").write_text("1")
    (top / "root" / "link").symlink_to(top)
    (top / "root" / "up").symlink_to("sub")
    (top / "root" / "sub" / "up").symlink_to("../..")
    return top / "root"


@given(source=sources, script=st.booleans())
@settings(max_examples=300)
def test_a_confined_load_never_leaves_its_root(source: str, script: bool, tree: Path) -> None:
    """Whatever a document imports, a confined load opens only files that really lie below the root."""
    opened: list[str] = []

    def reader(path: str, limit: int) -> bytes:
        opened.append(os.path.realpath(path))
        return read_regular(path, limit)

    declaration = '<script language="chatml" kind="moderator" {}/>' if script else "<user><import {}/></user>"
    text = declaration.format(encode("src", source))
    try:
        document = chatmd.load(text, base_dir=tree, reader=reader, confined=True, environment={})
    except ChatmdError:
        pass
    else:
        assert opened
        assert all(isinstance(one.source, Src) for one in document.scripts)
    assert all(is_below(path, os.path.realpath(tree)) for path in opened)
