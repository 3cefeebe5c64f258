"""Unusual inputs (nrchat.md sections 16 and 17), messages as values, and everything that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from chatmd.nrchat import (
    ChatSyntaxError,
    Json5Error,
    Message,
    Span,
    WriteError,
    WriteTypeError,
    check,
    escape_body,
    fence_for,
    parse,
    parse_json5,
    stringify,
)
from chatmd.nrchat.fences import is_closed
from chatmd.nrchat.whitespace import WHITESPACE


def shape(text: str) -> list[tuple[str, str | None, str | None, str]]:
    return [(m.role, m.name, m.raw_meta, m.body) for m in parse(text)]


@pytest.mark.parametrize(
    "text", ["", "\n\n\n", "prose\n50% of it\n", "\ufeff%user\nlost\n", "%", "% role", "%\tx", "%\r\n%"]
)
def test_no_message(text: str) -> None:
    assert parse(text) == []


@pytest.mark.parametrize("blank", WHITESPACE)
def test_no_white_space_may_follow_the_percent_sign(blank: str) -> None:
    assert parse(f"%{blank}x") == []
    assert shape(f"%r{blank}x") == ([("r", None, None, "x")] if blank == "\n" else [("r", "x", None, "")])
    assert shape(f"%r x{blank}") == [("r", "x", None, "")]


@pytest.mark.parametrize("odd", ["\x85", "\x1c", "\x1d", "\x1e", "\x1f", "\u200b", "\u180e", "\u2060", "\0", "\x7f"])
def test_what_only_looks_like_white_space_is_text(odd: str) -> None:
    assert shape(f"%{odd}") == [(odd, None, None, "")]
    assert shape(f"%a{odd}b {odd}n{odd}") == [(f"a{odd}b", f"{odd}n{odd}", None, "")]
    assert stringify([Message(f"a{odd}")]) == f"%a{odd}\n"


MARKERS = [
    ("%%", "%", None, None),
    ("%%x", "%x", None, None),
    ("%\\x", "\\x", None, None),
    ("%`x`", "`x`", None, None),
    ("%u{", "u{", None, None),
    ("%u{a: 1}", "u{a:", "1}", None),
    ("%{a} x", "{a}", "x", None),
    ("%u }", "u", "}", None),
    ("%u a}b", "u", "a}b", None),
    ("%u \\{", "u", "{", None),
    ("%u \\\\{}", "u", "\\", "{}"),
    ("%u \\\\\\{}", "u", "\\{}", None),
    ("%u \\x\\{}", "u", "\\x{}", None),
    ("%u {a:1} // note", "u", None, "{a:1} // note"),
    ("%u {a:1}/* {x} */ ", "u", None, "{a:1}/* {x} */ "),
    ("%u Kim, {a:1}", "u", "Kim,", "{a:1}"),
    ("%u\rKim", "u", "Kim", None),
    ("%u a\t  b", "u", "a\t  b", None),
    ("%u \xa0\u3000", "u", None, None),
    ("%u {}", "u", None, "{}"),
    ("%u {'\\\r': 1}", "u", None, "{'\\\r': 1}"),
    ("%u {a: 1 // x\u2028}", "u", None, "{a: 1 // x\u2028}"),
]


@pytest.mark.parametrize(("line", "role", "name", "raw"), MARKERS)
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
def test_marker_lines(line: str, role: str, name: str | None, raw: str | None, end: str) -> None:
    assert shape(line + end) == [(role, name, raw, "")]


@pytest.mark.parametrize(
    "line",
    [
        "%u {",
        "%u {a:1}{",
        "%u {a:1} x",
        "%u {a:1} {}",
        "%u /* {x} */ {a:1}",
        "%u {'a\r': 1}",
        "%u x {a: 01}",
        "%u {a:1}\x85",
    ],
)
def test_bad_metas_name_the_line(line: str) -> None:
    with pytest.raises(ChatSyntaxError) as caught:
        parse(f"pre\r\namble\n````\n%x {{\n````\n{line}\nbody\n%also {{bad\n")
    error = caught.value
    assert error.line == 6
    assert isinstance(error, ValueError)
    assert isinstance(error.__cause__, Json5Error)
    assert f"line 6, column {error.column}:" in str(error)


def test_the_column_is_that_of_the_file() -> None:
    with pytest.raises(ChatSyntaxError) as caught:
        parse("%ok\n%user Bob {a: 1, b: ?}\n")
    assert (caught.value.line, caught.value.column) == (2, "%user Bob {a: 1, b: ?}".index("?") + 1)


BODIES = [
    ("\\%x\n%u\n", [("u", None, None, "")]),
    ("a\rb\r%c\r", []),
    ("%a\rb\r%c\r", [("a", "b\r%c", None, "")]),
    ("%a\r\r\nx", [("a", None, None, "x")]),
    ("%a {k:1}\r\r\nx", [("a", None, "{k:1}\r", "x")]),
    ("%a\n\r\n%b", [("a", None, None, ""), ("b", None, None, "")]),
    ("%a\n \n", [("a", None, None, " ")]),
    ("%a\n\\\n\\x\n", [("a", None, None, "\\\n\\x")]),
    ("%a\n ````\n%b\n````\n", [("a", None, None, " ````"), ("b", None, None, "````")]),
    ("%a\n````\x0b\n%b\n````\x0c\n", [("a", None, None, "````\x0b"), ("b", None, None, "````\x0c")]),
    ("%a\n````\n%b\n```` x\n", [("a", None, None, "````"), ("b", None, None, "```` x")]),
    ("````\n%a\n%b\n````", []),
    ("%a\n``````x`\n%b\n``````", [("a", None, None, "``````x`"), ("b", None, None, "``````")]),
    ("%a\n````\n`````\n%b\n````\n", [("a", None, None, "````\n`````"), ("b", None, None, "````")]),
    ("%a\n````\r\n\\%x\r\n````\r\n\\%y\r\n%b\r\n", [("a", None, None, "````\n\\%x\n````\n%y"), ("b", None, None, "")]),
    ("%a\nx\0y\n", [("a", None, None, "x\0y")]),
]


@pytest.mark.parametrize(("text", "expected"), BODIES)
def test_bodies(text: str, expected: list[Any]) -> None:
    assert shape(text) == expected


@pytest.mark.parametrize("role", ["", " ", "a b", "\n", "a\n", "\ufeff", "a\u2003", None, 1, b"u"])
def test_roles_that_cannot_be_written(role: Any) -> None:
    with pytest.raises(WriteTypeError) as caught:
        stringify([Message("fine"), Message(role)])
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith("message 1, role: ")


@pytest.mark.parametrize("fields", [{"name": "a\nb"}, {"name": "\n"}, {"raw_meta": "{}\n%admin"}, {"raw_meta": "{\n}"}])
def test_a_line_feed_in_the_marker_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(WriteError, match="line feed") as caught:
        stringify([Message("u", **fields)])
    assert not isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "fields", [{"name": 1}, {"raw_meta": b"{}"}, {"body": None}, {"meta": {"a": object()}}, {"meta": {1: 2}}]
)
def test_other_types_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(WriteTypeError):
        stringify([Message("u", **fields)])


def test_things_that_are_no_messages() -> None:
    with pytest.raises(WriteTypeError, match="message 0 is not a Message but a dict"):
        stringify([{"role": "user"}])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="decode bytes"):
        parse(b"%user")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (Message("u", ""), "%u\n"),
        (Message("u", " "), "%u  \n"),
        (Message("u", "a\rb"), "%u a\rb\n"),
        (Message("u", "}{\\"), "%u \\}\\{\\\\\n"),
        (Message("u", "\\\\{"), "%u \\\\\\\\\\{\n"),
        (Message("u", meta={"b": 1, "1": [True, {}]}), "%u {'1': [true, {}], b: 1}\n"),
        (Message("u", meta=[1]), "%u [1]\n"),  # type: ignore[arg-type]
        (Message("u", raw_meta="x"), "%u x\n"),
        (Message("u", body="\n"), "%u\n\n\n"),
        (Message("u", body="%\n% x\n%x\n\\%\n\\x"), "%u\n\\%\n\\% x\n\\%x\n\\\\%\n\\x\n"),
        (Message("u", body="x\r"), "%u\nx\r\n"),
        (Message("u", "\ud800", body="\udfff"), "%u \ud800\n\udfff\n"),
    ],
)
def test_what_is_written_as_it_is(message: Message, text: str) -> None:
    assert stringify([message]) == text


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        (Message("a b", "x\ny", body="````"), ["role", "name"]),
        (Message("u", ""), ["name"]),
        (Message("u", " x"), ["name"]),
        (Message("u", "x\u3000"), ["name"]),
        (Message("u", raw_meta=""), ["raw_meta"]),
        (Message("u", raw_meta="[1]"), ["raw_meta"]),
        (Message("u", raw_meta="{a}"), ["raw_meta"]),
        (Message("u", raw_meta="{}\r"), ["raw_meta"]),
        (Message("u", meta=["x"]), ["meta"]),  # type: ignore[arg-type]
        (Message("u", meta={"a": b""}), ["meta"]),
        (Message("u", meta={"a": "\ud800"}), ["meta"]),
        (Message("u", body="x\r\ny"), ["body"]),
        (Message("u", body="x\r"), ["body"]),
        (Message("u", body="x\ry"), []),
        (Message("u", body="`````\nx\n````"), ["body"]),
        (Message("\udc00", "\udc00", body="\udc00"), ["role", "name", "body"]),
        (Message("u", "x\ry", {"a": 1}, "%y\n````\n%\n````", "{a:1} // "), []),
    ],
)
def test_check_names_the_fields(message: Message, fields: list[str]) -> None:
    problems = check([Message("fine"), message])
    assert [(problem.index, problem.field) for problem in problems] == [(1, field) for field in fields]
    if fields:
        with pytest.raises(WriteError) as caught:
            stringify([Message("fine"), message], strict=True)
        assert str(caught.value) == f"message 1, {fields[0]}: {problems[0].error}"
        assert type(caught.value) is type(problems[0].error)
    else:
        assert stringify([message], strict=True) == stringify([message])


def test_raw_meta_goes_out_as_it_came() -> None:
    (message,) = parse("%user {\"a\":1,   'b' : 0x2}  // x\nhi\n")
    assert stringify([message]) == "%user {\"a\":1,   'b' : 0x2}  // x\nhi\n"
    assert stringify([message.with_meta({"a": 3})]) == "%user {a: 3}\nhi\n"
    assert stringify([message.with_meta(None)]) == "%user\nhi\n"
    assert message.with_meta({}).span == message.span


def test_messages_compare_by_what_they_say() -> None:
    one = Message("u", "n", {"a": float("nan"), "b": [1]}, "x", span=Span(0, 1))
    other = Message("u", "n", {"b": [1.0], "a": float("nan")}, "x")
    assert one == other
    assert hash(one) == hash(other)
    assert one != Message("u", "n", {"a": 1}, "x")
    assert one != Message("u", "n", one.meta, "x", raw_meta="{}")
    assert one.same_content(Message("u", "n", one.meta, "x", raw_meta="{}"))
    assert Message("u", meta={}) != Message("u")
    assert Message("u") != ("u",)


def test_a_deep_meta_is_no_trouble() -> None:
    depth = 50_000
    text = f"%u {{a: {'[' * depth}{']' * depth}}}\n"
    one, other = parse(text)[0], parse(text)[0]
    assert one == other
    assert one.meta is not None
    assert "{...}" in repr(one)
    assert stringify([one.with_meta(one.meta)]) == text
    assert check([one]) == []


def test_a_frozen_message() -> None:
    with pytest.raises(AttributeError):
        Message("u").body = "x"  # type: ignore[misc]


def test_a_fence_outruns_every_run() -> None:
    assert fence_for("") == "````"
    assert fence_for("` `` ```") == "````"
    assert fence_for("x`````y ````") == "``````"
    assert fence_for("`" * 1000) == "`" * 1001


def test_closed_bodies() -> None:
    assert is_closed("```\nx")
    assert is_closed("````x`")
    assert not is_closed("````\nx\n````\n`````")
    assert is_closed("`````\n````\n`````")


def test_escaping_is_not_idempotent() -> None:
    assert escape_body(escape_body("%x")) == "\\\\%x"
    assert escape_body("%x\r\n%y\r") == "\\%x\r\n\\%y\r"
    assert escape_body("\r%x") == "\r%x"


def test_long_faults_stay_short() -> None:
    with pytest.raises(WriteTypeError) as caught:
        stringify([Message("a b" * 100_000)])
    assert len(str(caught.value)) < 200
    with pytest.raises(Json5Error) as other:
        parse_json5("[" + "q" * 100_000)
    assert len(str(other.value)) < 200
