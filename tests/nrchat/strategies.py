"""What hypothesis draws chats, messages and JSON5 from: fragments with structure in them, not plain text."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chatmd.nrchat import Message
from chatmd.nrchat.fences import is_closed
from chatmd.nrchat.whitespace import WHITESPACE

FRAGMENTS = [
    *("\n" * 8),
    *("\r\n" * 2),
    *(
        "%",
        "%u",
        "%u Kim {k: 1}",
        "\n%a",
        "\n%b x\n",
        "\n%c {k: [1, 'y']}\n",
        "%%part",
        "% x",
        "%u \\{a\\} ",
        "%x {",
    ),
    *("\\", "\\%", "\\\\%b", "\n\\%", "\n%", "\r", "\r\r\n", " ", "\t", "{", "}", "{k: 1}", "{}", "x", "é"),
    *(
        "```",
        "````",
        "`````",
        "``````",
        "\n````\n",
        "\n```` py\n",
        "\n`````\n",
        "\n```` \t\r\n",
        "````x`",
        "`",
    ),
    *("\ufeff", "\x85", "\u2028", "\xa0", "\x1f", "\0", "\N{ROCKET}", "\v", "\f", "\u200b", "\u3000", "7% x"),
]
JSON5_FRAGMENTS = [
    *(
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "\r",
        "{a: 1}",
        "[1, 2]",
        "a:",
        "'b':",
        '"c": ',
        ", ",
        "1",
        "0",
        "12",
    ),
    *(
        "-",
        "+",
        ".",
        ".5",
        "5.",
        "e5",
        "E-3",
        "0x",
        "0xfF",
        "Infinity",
        "NaN",
        "null",
        "true",
        "false",
        "01",
        "1e400",
    ),
    *(
        "'",
        '"',
        "'x'",
        '"y"',
        "\\",
        "\\n",
        "\\'",
        "\\x41",
        "\\u00e9",
        "\\u0061",
        "\\ud83d",
        "\\ude00",
        "\\0",
        "\\1",
    ),
    *(
        "\\\n",
        "\\\r\n",
        "\\\u2028",
        "\\q",
        "//",
        "/*",
        "*/",
        "// c\n",
        "/* c */",
        "/",
        "*",
        "a",
        "$_é",
        "é",
        "\u200d",
    ),
    *(
        "\ufeff",
        "\xa0",
        "\x85",
        "\u2028",
        "\u2e2f",
        "\u30fb",
        "\u309b",
        "\u0663",
        "\N{ROCKET}",
        "\0",
        "\x1f",
        "_",
        "__proto__",
    ),
    *(
        "9007199254740991",
        "9007199254740993",
        "-0",
        "1234567890123456789",
        "1.7976931348623159e308",
        "5e-324",
        "\u3000",
    ),
]

chats = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)
TIDY_LINES = [
    *("%u", "%u Kim {k: 1}", "%%part {}", "%v \\{a\\}", "%w {'a': \"x\"} // why"),
    *("x", "", "", "% x", "%", "\\%", "\\\\%y", "  ", "\N{ROCKET}", "```", "\u2028%n"),
    *("````\n%x {\n\\%\n````", "`````\n````\n`````` ", "```` py\r\n%y\r\n````"),
]
tidy_chats = st.lists(
    st.tuples(st.sampled_from(TIDY_LINES), st.sampled_from(["\n", "\n", "\r\n"])).map("".join), max_size=14
).flatmap(lambda lines: st.sampled_from(["".join(lines), "".join(lines).rstrip("\r\n")]))
"""Chats within the preconditions of the laws of surgery: readable, closed, no line end with two CRs."""

json5_texts = st.lists(st.sampled_from(JSON5_FRAGMENTS), max_size=14).map("".join)

characters = st.characters(exclude_categories=["Cs"])
roles = st.one_of(
    st.sampled_from(["user", "bot", "%part", "{x}", "a\\", "`", "é", "\0"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=WHITESPACE), min_size=1, max_size=6),
)
names = st.one_of(
    st.none(),
    st.text(st.one_of(st.sampled_from("{}\\ \tab\r\u2028"), characters), min_size=1, max_size=8).filter(
        lambda name: "\n" not in name and name.strip(WHITESPACE) == name
    ),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(),
    st.text(st.one_of(st.sampled_from("'\"\\\0\x01\x1f\n\r\t\u2028\u202907"), characters), max_size=8),
)
keys = st.one_of(
    st.sampled_from(["a", "null", "10", "9", "01", "-1", "4294967294", "4294967295", "", "é"]),
    st.text(characters, max_size=5),
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)
metas = st.one_of(st.none(), st.dictionaries(keys, values, max_size=4))

BODY_FRAGMENTS = [fragment for fragment in FRAGMENTS if "\r" not in fragment]
bodies = st.one_of(
    st.lists(st.sampled_from(BODY_FRAGMENTS), max_size=12).map("".join),
    st.text(characters.filter(lambda c: c != "\r"), max_size=20),
)
closed_bodies = bodies.filter(is_closed)


def messages(bodies: st.SearchStrategy[str] = closed_bodies) -> st.SearchStrategy[Message]:
    """Messages that can be written and read back: the preconditions of law L1."""
    return st.builds(Message, roles, names, metas, bodies)


chats_of_messages = st.lists(messages(), max_size=5)
