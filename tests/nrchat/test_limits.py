"""Large and hostile inputs: time that grows with the text, and no faster (nrchat.md Z8 and section 19)."""

from __future__ import annotations

import gc
import io
import time
from collections.abc import Callable

import pytest

from chatmd.nrchat import (
    ChatSyntaxError,
    Json5Error,
    Message,
    check,
    escape_body,
    fence_for,
    follow,
    iter_messages,
    parse,
    parse_json5,
    stringify,
    stringify_json5,
)

N = 80_000
GROWTH = 8  # times the work
SLACK = 3.5  # noise of the clock; growing with the square would cost GROWTH times as much again
TRIES = 3
UNMEASURABLE = 0.3  # seconds of processor time; the square of N takes far longer


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def is_linear(small: Callable[[], object], large: Callable[[], object]) -> bool:
    """Whether GROWTH times the work takes about GROWTH times as long; a busy machine gets further tries."""
    base = seconds(small)
    for _ in range(TRIES):
        base = max(base, seconds(small))
        if seconds(large) < max(GROWTH * SLACK * base, UNMEASURABLE):
            return True
    return False


def refused(work: Callable[[], object]) -> None:
    with pytest.raises((ChatSyntaxError, Json5Error)):
        work()


TEXTS: dict[str, Callable[[int], str]] = {
    "dangling openers": lambda n: "%u\n" + "```` x\n" * n,
    "dangling openers, each longer": lambda n: (
        "%u\n" + "".join("`" * (4 + i) + " x\n" for i in range(int((2 * n) ** 0.5)))
    ),
    "dangling openers, each shorter": lambda n: (
        "%u\n" + "".join("`" * (4 + i) + "\n" for i in range(int((2 * n) ** 0.5), 0, -1))
    ),
    "closers too short": lambda n: "%u\n" + "````` x\n````\n" * (n // 2),
    "zones": lambda n: "%u\n" + "````\n%x\n````\n" * (n // 3),
    "zones with ladders between": lambda n: "%u\n" + "````\n\\%x\n````\n\\%y\n" * (n // 4),
    "backticks that open nothing": lambda n: "%u\n" + "````x`\n" * n,
    "one line of backticks": lambda n: "%u\n" + "`" * n * 4 + "x`\n",
    "markers": lambda n: "%u\n" * n,
    "markers in a zone": lambda n: "````\n" + "%u {\n" * n + "````\n",
    "percent signs that mark nothing": lambda n: "%u\n" + "% x\n%\n" * n,
    "ladders": lambda n: "%u\n" + "\\%x\n" * n,
    "one tall ladder": lambda n: "%u\n" + "\\" * n * 4 + "%\n",
    "backslashes that are no ladder": lambda n: "%u\n" + ("\\" * 50 + "\n") * (n // 10),
    "lone CRs": lambda n: "%u\n" + "\r" * n * 4,
    "CRLF": lambda n: "%u\r\n" + "x\r\n" * n,
    "CR CR LF": lambda n: "%u\r\n" + "x\r\r\n" * n,
    "a long role": lambda n: "%" + "r" * n * 4 + "\n",
    "a long name": lambda n: "%u " + "n" * n * 4 + "\n",
    "a long name of escapes": lambda n: "%u " + "\\{\\\\\\x" * n + "\n",
    "a long name of blanks": lambda n: "%u " + " \t" * n * 2 + "\n",
    "a long meta": lambda n: "%u {a: '" + "x" * n * 4 + "'}\n",
    "a meta of escapes": lambda n: "%u {a: '" + "\\u0041\\n" * (n // 2) + "'}\n",
    "a meta of comments": lambda n: "%u {" + "/**/ " * n + "}\n",
    "a meta of members": lambda n: "%u {" + "".join(f"k{i}: {i}, " for i in range(n // 4)) + "}\n",
    "a deep meta": lambda n: "%u {a: " + "[" * (n // 4) + "]" * (n // 4) + "}\n",
    "metas": lambda n: "%u {a: 1}\n" * (n // 4),
    "NULs": lambda n: "%u\n" + "\0" * n * 4,
    "prose": lambda n: "no marker here\n" * n,
    "blank lines": lambda n: "%u" + "\n" * n * 4,
}


@pytest.mark.parametrize("name", TEXTS)
def test_reading_and_writing_take_linear_time(name: str) -> None:
    make = TEXTS[name]
    small, large = make(N // GROWTH), make(N)
    assert is_linear(lambda: stringify(parse(small)), lambda: stringify(parse(large)))


BAD_METAS: dict[str, Callable[[int], str]] = {
    "a string that does not end": lambda n: "{a: '" + "x" * n,
    "strings of escapes that do not end": lambda n: "{a: '" + "\\n" * n,
    "a comment that does not end": lambda n: "{/*" + "*" * n,
    "brackets that do not end": lambda n: "{a: " + "[" * (n // 4),
    "a number with a bad end": lambda n: "{a: " + "1" * n + "x",
    "a key without a colon": lambda n: "{" + "k" * n,
    "blanks and then nothing": lambda n: "{" + " " * n,
    "many good members and a bad one": lambda n: "{" + "a: 1, " * (n // 4) + "?",
    "a key beyond ASCII without a colon": lambda n: "{" + "é" * n,
}


@pytest.mark.parametrize("name", BAD_METAS)
def test_bad_metas_are_refused_in_linear_time(name: str) -> None:
    make = BAD_METAS[name]
    small, large = ("%ok\n" * 100 + f"%u {make(n)}\n" for n in (N // GROWTH, N))
    assert is_linear(lambda: refused(lambda: parse(small)), lambda: refused(lambda: parse(large)))


def test_forty_thousand_dangling_openers() -> None:
    text = "%u\n" + "```` x\n" * 40_000
    (message,) = parse(text)
    assert stringify([message]) == text
    assert len(check([message])) == 1
    assert [m.body for m in iter_messages(io.BytesIO(text.encode()))] == [message.body]
    assert [m.body for m in follow(io.BytesIO(text.encode()), stop=lambda: True)] == [message.body]


LONG = 50_000_000


@pytest.mark.parametrize(
    ("before", "filling", "after"),
    [
        ("", "x", ""),
        ("%", "u", ""),
        ("%u ", "x", ""),
        ("%u {a: '", "x", "'}"),
        ("%u {a: '", "x", ""),
        ("%u ", "\\", ""),
        ("", "`", ""),
        ("%u x", "{", ""),
    ],
)
def test_one_line_of_fifty_million_characters(before: str, filling: str, after: str) -> None:
    text = before + filling * LONG + after
    start = time.process_time()
    if "{" in text and not after:
        refused(lambda: parse(text))
    else:
        spans = [message.span for message in parse(text)]
        assert spans == ([(0, len(text))] if before else [])
    assert time.process_time() - start < 20


def test_many_metas_are_read_and_written_in_time() -> None:
    line = "%user Bob {id: 'm0042', ts: '2026-07-15T10:22:45Z', tokens: {in: 38, out: 3}, ok: true}\n"
    text = (line + "The quick brown fox jumps over the lazy dog, again and again.\n" * 10) * 14_000
    start = time.process_time()
    found = parse(text)
    assert stringify(found) == text
    assert stringify([message.with_meta(message.meta) for message in found]) == text
    assert time.process_time() - start < 6


def test_other_functions_on_large_texts() -> None:
    start = time.process_time()
    assert fence_for("`" * 5_000_000) == "`" * 5_000_001
    assert fence_for("` " * 1_000_000) == "````"
    assert escape_body("%\n" * 500_000) == "\\%\n" * 500_000
    assert len(stringify_json5(["'\0\0"] * 100_000)) > 100_000
    assert parse_json5("0x" + "f" * 1_000_000) == float("inf")
    assert parse_json5("9" * 1_000_000 + "." + "9" * 1_000_000) == float("inf")
    assert check([Message("u", body="\r" * 1_000_000 + "x")]) == []
    assert time.process_time() - start < 10
