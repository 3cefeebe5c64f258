"""Reading and writing JSON text (builtins.md section 3.8, X-06)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatml.border.python import from_json
from chatml.builtins.json_reader import JsonError, read
from chatml.builtins.json_scanner import DEEPEST, is_deep
from chatml.builtins.json_writer import write
from chatml.diagnostics.errors import RuntimeFailure
from chatml.values.model import BuiltinFailure, Value
from chatml.values.text import show
from tests.chatml.builtins.machines import FakeMachine
from tests.chatml.builtins.values_strategy import JSON, JSON_DATA

ENTRY = {"key": "a", "value": ("Null",)}

BAD_TEXTS = [
    ("", 0, "the text ends"),
    (" ", 1, "the text ends"),
    ("[1,]", 3, "expected a value, but found `]` in the array that opens at line 1, column 1"),
    ("[,1]", 1, "expected a value"),
    ("[1", 2, "expected `,` or `]`, but the text ends in the array"),
    ("[1 2]", 3, "expected `,` or `]`, but found `2` in the array"),
    ("[1}", 2, "found `}`"),
    ("{a:1}", 1, "expected a key in double quotes, but found `a` in the object"),
    ('{"a":1,}', 7, "expected a key"),
    ('{"a" 1}', 5, "expected `:` after a key"),
    ('{"a":}', 5, "expected a value"),
    ('{"a":1', 6, "expected `,` or `}`"),
    ('[{"a":[nul]}]', 7, "found `nul` in the array that opens at line 1, column 7"),
    ("1 2", 2, "the end of the text after the value, but found `2`"),
    ("]", 0, "expected a value"),
    ("nul", 0, "found `nul`"),
    ("True", 0, "found `True`"),
    ("nullnull", 0, "found `nullnull`"),
    ("'x'", 0, "found `'`"),
    ("// c\n1", 0, "found `/`"),
    ("\ufeff1", 0, "expected a value"),
    ("\x0c1", 0, "expected a value"),
    ("1\u00a0", 1, "the end of the text"),
    ("+1", 0, "`+1` is not how JSON writes a number"),
    ("007", 0, "`007` is not how JSON writes a number"),
    ("-01", 0, "`-01` is not how"),
    (".5", 0, "`.5` is not how"),
    ("5.", 0, "`5.` is not how"),
    ("5.e2", 0, "`5.e2` is not how"),
    ("1e", 0, "`1e` is not how"),
    ("1e+", 0, "`1e+` is not how"),
    ("1-2", 0, "`1-2` is not how"),
    ("-", 0, "`-` is not how"),
    ("1_0", 1, "the end of the text after the value, but found `_0`"),
    ("0x10", 1, "found `x10`"),
    ("NaN", 0, "found `NaN`"),
    ("Infinity", 0, "found `Infinity`"),
    ("-Infinity", 0, "`-` is not how"),
    ("1e999", 0, "beyond the range of a double"),
    ("-1e999", 0, "beyond the range of a double"),
    ("1" + "0" * 400, 0, "beyond the range of a double"),
    ("٣", 0, "expected a value"),
    ('"abc', 4, "the string that opens at line 1, column 1 is not closed"),
    ('"a\tb"', 2, "the control character U+0009 must be escaped"),
    ('"a\nb"', 2, "the control character U+000A must be escaped"),
    (r'"\x"', 1, r"`\x` begins no escape"),
    (r'"\u12"', 1, r"`\u` begins no escape"),
    ('"\\u\uff11234"', 1, r"`\u` begins no escape"),
    (r'"\ud83d"', 1, r"`\ud83d` is a lone surrogate"),
    (r'"\ud83dx"', 1, "lone surrogate"),
    (r'"\ud83d\u0041"', 1, "lone surrogate"),
    (r'"\ud83d\ud83d\ude00"', 1, "lone surrogate"),
    (r'"\ude00"', 1, "lone surrogate"),
    (r'"\\\ud83d"', 3, "lone surrogate"),
    (r'{"\udead": 1}', 2, "lone surrogate"),
    ('"\\', 1, "begins no escape"),
    ("[1,\n 2,\n  x]", 10, "line 3, column 3: expected a value"),
]


@pytest.mark.parametrize(("text", "offset", "reason"), BAD_TEXTS, ids=[repr(text[:20]) for text, _, _ in BAD_TEXTS])
def test_what_is_no_json(text: str, offset: int, reason: str) -> None:
    with pytest.raises(JsonError) as caught:
        read(text)
    assert reason in caught.value.reason
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" null\r\n", ("Null",)),
        ("-0", ("Number", -0.0)),
        ("0.1e-2", ("Number", 0.001)),
        ("1E+2", ("Number", 100.0)),
        ("1e-999", ("Number", 0.0)),
        ("5e-324", ("Number", 5e-324)),
        ("123456789012345678901234567890", ("Number", 123456789012345678901234567890.0)),
        ("9" * 5000 + "e-4990", ("Number", 1e10)),
        ('""', ("String", "")),
        (r'"\"\\\/\b\f\n\r\t\u00E9\u00e9"', ("String", '"\\/\b\f\n\r\téé')),
        (r'"\ud83d\ude00"', ("String", "😀")),
        (r'"\uD83D\uDE00"', ("String", "😀")),
        (r'"\\ud83d"', ("String", r"\ud83d")),
        ('"\x7f\u2028é😀"', ("String", "\x7f\u2028é😀")),
        ("[ ]", ("Array", [])),
        ("{ }", ("Object", [])),
        ('{"a":1,"b":{},"a":[2]}', None),
    ],
)
def test_read(text: str, value: Value) -> None:
    if value is None:
        pairs = [("a", ("Number", 1.0)), ("b", ("Object", [])), ("a", ("Array", [("Number", 2.0)]))]
        value = ("Object", [{"key": key, "value": item} for key, item in pairs])
    assert read(text) == value
    if text == "-0":
        assert math.copysign(1, read(text)[1]) == -1


@given(JSON)
def test_round_trip(value: Value) -> None:
    """What is written, plain or pretty, reads back as the same value, but for the sign of zero."""
    for pretty in (False, True):
        assert read(write(value, pretty=pretty)) == value


@given(JSON_DATA, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_reads_what_python_writes(data: Any, indent: int | str | None, ascii_only: bool) -> None:
    """The reader reads what Python's `json` writes, however it is laid out and escaped."""
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
    assert show(read(text)) == show(from_json(data))


@given(JSON_DATA)
def test_python_reads_what_is_written(data: Any) -> None:
    """Python's `json` reads what the writer writes, and finds the same data in it."""
    value = from_json(data)
    assert json.loads(write(value)) == data
    assert json.loads(write(value, pretty=True)) == data


SOUP = st.text(st.sampled_from(list('[]{},:"\\/ntu019.-+eE _aNd8\n\t\x00é\ufeff')) | st.characters(), max_size=12)


def refuse(constant: str) -> None:
    raise ValueError(constant)


def accepts(reader: Callable[[str], Value], text: str) -> bool:
    try:
        reader(text)
    except ValueError:
        return False
    return True


def oracle(text: str) -> Value:
    """What Python's `json` reads, less the constants, infinities and surrogates that RFC 8259 does not know."""
    return from_json(json.loads(text, parse_constant=refuse, parse_int=float))


@given(SOUP)
@example(r'"\\ud800"')
@example("1e999")
@example("NaN")
@example(" null ")
def test_accepts_what_the_oracle_accepts(text: str) -> None:
    """A text is read exactly if Python's `json` reads it."""
    assert accepts(read, text) == accepts(oracle, text)


def any_size(size: int) -> None:
    """A limit that is never reached. With it texts are read without the scanner of Python's `json`."""


@given(SOUP | st.builds(json.dumps, JSON_DATA) | JSON.map(write))
@example(r'"\ud83d\ude00 \\ud83d"')
@example(r'["\ud83d", "\\\ude00"]')
@example("[1e400]")
def test_both_readers_agree(text: str) -> None:
    """With and without the scanner the same texts are read, to the same values."""
    assert accepts(read, text) == accepts(lambda text: read(text, any_size), text)
    if accepts(read, text):
        assert show(read(text)) == show(read(text, any_size))


@pytest.mark.parametrize("depth", [DEEPEST - 1, DEEPEST, DEEPEST + 1, 3 * DEEPEST])
def test_depth_of_a_text(depth: int) -> None:
    nested = "[" * depth + '"]]]]\\"[[["' + "]" * depth
    assert is_deep(nested) is (depth > DEEPEST)
    assert write(read(nested)) == nested
    wide = "[" + ",".join(['{"[[[": ["{{{"]}'] * depth) + "]"
    assert not is_deep(wide)
    assert accepts(read, wide)


@given(SOUP)
def test_errors_have_a_place(text: str) -> None:
    """Reading raises nothing but an error with a place in the text."""
    if not accepts(read, text):
        with pytest.raises(JsonError, match=r"line \d+, column \d+: ") as caught:
            read(text)
        assert 0 <= caught.value.offset <= len(text)


@pytest.mark.parametrize("nested", ["[" * 100_000 + "]" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000])
def test_deep_text(nested: str) -> None:
    assert write(read(nested)) == nested
    with pytest.raises(JsonError, match="the text ends"):
        read(nested[:-1])


def test_read_within_a_limit() -> None:
    machine = FakeMachine(text=3)
    assert read('[1, 2, "abc"]', machine.check_size) == read('[1, 2, "abc"]')
    for text in ("[1, 2, 3, 4]", '["abcd"]', '{"a":1,"b":2,"c":3,"d":4}', '{"abcd":1}'):
        with pytest.raises(RuntimeFailure, match="limit"):
            read(text, machine.check_size)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (("String", 'a"b\\c\nd\te\b\f\r\x01\x1f/\x7fé😀'), '"a\\"b\\\\c\\nd\\te\\b\\f\\r\\u0001\\u001f/\x7fé😀"'),
        (("Number", 5e-324), "5e-324"),
        (("Number", 1.7976931348623157e308), "1.7976931348623157e+308"),
        (("Number", -7.0), "-7"),
        (("Number", 9007199254740993.0), "9007199254740992"),
        (
            ("Object", [{"key": "a", "value": ("Null",)}, {"key": "a", "value": ("Bool", False)}]),
            '{"a":null,"a":false}',
        ),
    ],
)
def test_write(value: Value, text: str) -> None:
    assert write(value) == text


def test_pretty() -> None:
    value = read('{"a":{},"b":[],"c":[1,{"d":null,"e":"x"}]}')
    wanted = """\
{
  "a": {},
  "b": [],
  "c": [
    1,
    {
      "d": null,
      "e": "x"
    }
  ]
}"""
    assert write(value, pretty=True) == wanted


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks(number: float) -> None:
    with pytest.raises(BuiltinFailure, match="JSON has no number"):
        write(("Array", [("Number", number)]))


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        "x",
        None,
        ("Null", None),
        ("Number", 1),
        ("Bool", None),
        ("String", "a", "b"),
        ("Other", 1),
        ("Array",),
        ("Array", ["raw"]),
        ("Array", [None]),
        ("Object", [ENTRY, {"key": "a"}]),
        ("Object", [ENTRY, {"key": 1, "value": ("Null",)}]),
        ("Object", [("Null",)]),
        ("Object", [{"key": "a", "value": "raw"}]),
    ],
)
def test_what_is_no_json_value(value: Value) -> None:
    for pretty in (False, True):
        with pytest.raises(BuiltinFailure, match="expected"):
            write(value, pretty=pretty)


def test_cyclic_value() -> None:
    elements: list[Value] = [("Null",)]
    elements.append(("Object", [{"key": "a", "value": ("Array", elements)}]))
    for pretty in (False, True):
        with pytest.raises(BuiltinFailure, match="contains itself"):
            write(("Array", elements), pretty=pretty)


def test_shared_parts_that_would_fill_the_memory() -> None:
    value: Value = ("Null",)
    for _ in range(100):
        value = ("Array", [value, value])
    with pytest.raises(BuiltinFailure, match="longer than"):
        write(value)
    long = ("String", "\x00" * 1_000_000)
    with pytest.raises(RuntimeFailure, match="limit"):
        write(("Array", [long] * 1000), FakeMachine(text=10_000_000))


def test_pretty_indentation_counts() -> None:
    value: Value = ("Null",)
    for _ in range(20_000):
        value = ("Array", [value])
    with pytest.raises(RuntimeFailure, match="limit"):
        write(value, FakeMachine(text=10_000_000), pretty=True)


@given(JSON)
def test_limit_is_exact(value: Value) -> None:
    """A text that just fits the limit is written; one that is longer fails, naming the limit."""
    text = write(value)
    assert write(value, FakeMachine(text=len(text))) == text
    with pytest.raises(RuntimeFailure, match="limit"):
        write(value, FakeMachine(text=len(text) - 1))
