"""JSON5 by itself: values, faults and their places, depth, the canonical form, and other readers as oracles."""

from __future__ import annotations

import json
import math
import random
import struct
from typing import Any

import json5
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chatmd.nrchat import Json5Error, WriteError, WriteTypeError, parse_json5, stringify_json5
from chatmd.nrchat.json5.compare import same_value
from chatmd.nrchat.json5.identifiers import is_part, is_start
from chatmd.nrchat.json5.read import MAX_DEPTH
from tests.nrchat import json5_model as model
from tests.nrchat.strategies import json5_texts, values
from tests.nrchat.test_conformance import exact

FAULTS = [
    ("", 1, 1, "the end of the text where a value"),
    ("  \n ", 2, 2, "the end of the text where a value"),
    ("{", 1, 2, "the end of the text where a key"),
    ("[1", 1, 3, "the end of the text where ',' or ']'"),
    ("{a: 1", 1, 6, "the end of the text where ',' or '}'"),
    ("{,}", 1, 2, "',' where a key"),
    ("[1,,2]", 1, 4, "',' where a value"),
    ("{a: 1,,}", 1, 7, "',' where a key"),
    ("[1}", 1, 3, "'}' where ',' or ']'"),
    ("{a: 1]", 1, 6, "']' where ',' or '}'"),
    ("{a 1}", 1, 4, "'1' where ':'"),
    ("{a:}", 1, 4, "'}' where a value"),
    ("{a: 1 b: 2}", 1, 7, "'b' where ',' or '}'"),
    ("1 2", 1, 3, "'2' where the end"),
    ("010", 1, 2, "'1' where the end"),
    ("- 1", 1, 1, "'-' where a value"),
    ("\n\n[\n  True]", 4, 3, "the word 'True' is not a value"),
    ("nul", 1, 1, "the word 'nul' is not a value"),
    ("'abc", 1, 5, "no closing quote"),
    ("'abc\\", 1, 6, "no closing quote"),
    ("'a\nb'", 1, 3, "cannot hold a line end"),
    ("'a\rb'", 1, 3, "cannot hold a line end"),
    ("'\\x4g'", 1, 2, "needs two hexadecimal digits"),
    ("'\\u{41}'", 1, 2, "needs four hexadecimal digits"),
    ("'\\07'", 1, 2, "octal"),
    ("'\\8'", 1, 2, "\\8"),
    ("/* 1", 1, 1, "no */"),
    ("{\\x61: 1}", 1, 2, "only escape"),
    ("{\\u0031a: 1}", 1, 2, "'1' cannot stand here"),
    ("{a\\u002d: 1}", 1, 3, "'-' cannot stand here"),
    ("{\\ud83d\\ude00: 1}", 1, 2, "U+D83D cannot stand here"),
    ("{\x85: 1}", 1, 2, "U+0085 where a key"),
    ("\N{ROCKET}x", 1, 1, "where a value"),
    ("['\N{ROCKET}' 1]", 1, 6, "'1' where ',' or ']'"),
]


@pytest.mark.parametrize(("text", "line", "column", "reason"), FAULTS)
def test_a_fault_names_its_place_and_what_is_wrong(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(Json5Error) as caught:
        parse_json5(text)
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert reason in error.reason
    assert f"line {line}, column {column}" in str(error)
    assert text.count("\n", 0, error.offset) + 1 == line


VALUES: list[tuple[str, Any]] = [
    ("9007199254740991", 9007199254740991),
    ("9007199254740992", 9007199254740992.0),
    ("-9007199254740991", -9007199254740991),
    ("-9007199254740993", -9007199254740992.0),
    ("0x1fffffffffffff", 2**53 - 1),
    ("0x20000000000001", 2.0**53),
    ("-0x0", -0.0),
    ("-0", -0.0),
    ("-0e9", -0.0),
    ("1e400", math.inf),
    ("-1e400", -math.inf),
    ("1e-400", 0.0),
    ("9" * 5000, math.inf),
    ("-0x" + "f" * 300, -math.inf),
    ("0x" + "f" * 100, float(16**100)),
    ("1" + "0" * 400, math.inf),
    ("0." + "0" * 5000 + "1", 0.0),
    ("1e" + "0" * 5000 + "2", 100.0),
    ("+NaN", math.nan),
    ("-NaN", math.nan),
    ("{a: 1, b: 2, a: 3}", {"a": 3, "b": 2}),
    ("{__proto__: 1, 'constructor': 2}", {"__proto__": 1, "constructor": 2}),
    ("{Infinity: 1, NaN: 2, null: 3}", {"Infinity": 1, "NaN": 2, "null": 3}),
    ("'\\\u2028\\\u2029\\\r\\\n\\\r\n'", ""),
    ("'\\a\\U\\ \\/\\\"\\é\\\0'", 'aU /"é\0'),
    ("'\\0\\x00\\u0000'", "\0\0\0"),
    ("'\\ud83d\\ude00'", "\N{GRINNING FACE}"),
    ("'\\ud83d\\\n\\ude00'", "\N{GRINNING FACE}"),
    ("'\\ude00\\ud83d'", "\ude00\ud83d"),
    ("'\\ud83dx\\ude00'", "\ud83dx\ude00"),
    ("'\x00\x01\t\x1f\x7f'", "\x00\x01\t\x1f\x7f"),
    ("{'\\u0061': 1}", {"a": 1}),
    ("\ufeff\u3000[\u16801\u2028,\u2029//\u2028\n/***//**/2\v\f]\u00a0", [1, 2]),
]


@pytest.mark.parametrize(("text", "value"), VALUES, ids=range(len(VALUES)))
def test_a_value(text: str, value: Any) -> None:
    result = parse_json5(text)
    assert exact(result) == exact(value)
    assert type(result) is type(value)


@pytest.mark.parametrize(
    "text", ["nullx", "1x", "1n", "1_000", "0b1", "0o7", "1e", "1e+", "0x", "--1", "+-1", "-.", ".e1"]
)
@pytest.mark.parametrize("around", ["{}", "[{}]", "{{a: {}}}"])
def test_what_is_no_number_or_word(text: str, around: str) -> None:
    with pytest.raises(Json5Error):
        parse_json5(around.format(text))


@pytest.mark.parametrize("text", ["١", "1٢", "٠x1", "1e٣", "0x１", "'\\x４1'", "'\\u004１'", "１.5"])
def test_only_ascii_digits_are_digits(text: str) -> None:
    with pytest.raises(Json5Error):
        parse_json5(text)


def test_any_depth_is_read_and_written() -> None:
    depth = 30_000
    for opening, closing in (("[", "]"), ("{a: ", "}")):
        text = opening * depth + "1" + closing * depth
        value = parse_json5(text)
        assert stringify_json5(value) == text
        assert same_value(value, parse_json5(text))


def test_a_depth_that_only_costs_memory_is_refused() -> None:
    with pytest.raises(Json5Error, match="nested deeper"):
        parse_json5("[" * (MAX_DEPTH + 1))


def test_nan_has_no_sign() -> None:
    assert math.copysign(1, parse_json5("-NaN")) == 1


def test_unfinished_depth_is_a_fault_at_the_end() -> None:
    with pytest.raises(Json5Error) as caught:
        parse_json5("[{a:" * 50_000)
    assert caught.value.offset == 200_000


def test_bytes_are_refused_with_a_hint() -> None:
    with pytest.raises(TypeError, match="decode bytes"):
        parse_json5(b"{}")  # type: ignore[arg-type]


@given(json5_texts)
@example("'\\ud83d\\ude00'")
def test_reads_what_the_model_reads(text: str) -> None:
    """The reader and the model accept the same texts with the same values, and write them the same."""
    for candidate in (text, f"{{k: {text}}}", f"'{text}'", f"[{text}, {text}]"):
        try:
            expected = model.read_json5(candidate)
        except model.ModelError:
            with pytest.raises(Json5Error):
                parse_json5(candidate)
            continue
        value = parse_json5(candidate)
        assert exact(value) == exact(expected)
        assert stringify_json5(value) == model.write_json5(value)


def beyond_the_oracle(text: str) -> bool:
    """Whether a text holds what the `json5` package is known to read otherwise (nrchat.md section 20)."""
    return "-0" in text or "\\u" in text or any(c in text for c in "\u2e2f\u30fb\u309b\u0663") or len(text) > 4000


@given(json5_texts)
def test_reads_what_the_json5_package_reads(text: str) -> None:
    """The reader agrees with the `json5` package wherever that one is right."""
    assume(not beyond_the_oracle(text))
    try:
        expected = json5.loads(text)
    except ValueError:
        with pytest.raises(Json5Error):
            parse_json5(text)
        return
    assert exact(parse_json5(text)) == exact(expected)


@given(values)
def test_reads_json(value: Any) -> None:
    """All JSON is JSON5 with the same value, NaN and the infinities included."""
    text = json.dumps(value)
    assert exact(parse_json5(text)) == exact(value)


@given(values)
def test_law_16_values_survive(value: Any) -> None:
    """A plain value reads back equal; writing that gives the same text; the text is fit for a marker line."""
    text = stringify_json5(value)
    back = parse_json5(text)
    assert same_value(back, value)
    assert stringify_json5(back) == text
    assert text == model.write_json5(value)
    assert not any(c < " " or c in "\u2028\u2029" for c in text)


@given(st.floats())
@example(5e-324)
@example(2.0**-1022)
@example(1e21)
@example(999999999999999900000.0)
@example(1e-6)
@example(9.5367431640625e-07)
def test_numbers_are_written_as_javascript_does(number: float) -> None:
    """Every double reads back as itself, in the notation of the rule."""
    text = stringify_json5(number)
    assert exact(float(parse_json5(text))) == exact(number)
    assert text == model.write_double(number)


def test_many_doubles() -> None:
    draw = random.Random(7)
    for _ in range(3_000):
        number = struct.unpack(">d", draw.randbytes(8))[0]
        assert stringify_json5(number) == model.write_double(number)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**53 - 1, "9007199254740991"),
        (2**53 + 1, "9007199254740992"),
        (-(2**70), "-1.1805916207174113e+21"),
        (10**400, "Infinity"),
        (-(10**400), "-Infinity"),
        (True, "true"),
        ((1, (2,)), "[1, [2]]"),
        ({"a\n": 1}, "{'a\\n': 1}"),
        ({"a": 1, "b\u0301": 2, "2": 3, "10": 4, "1": 5}, "{'1': 5, '2': 3, '10': 4, a: 1, 'b\u0301': 2}"),
        ({"²": 1, "٣": 2, "4294967295": 3, "00": 4, "0": 5}, "{'0': 5, '²': 1, '٣': 2, '4294967295': 3, '00': 4}"),
        ({"x": {"1": 1, "0": 2}}, "{x: {'0': 2, '1': 1}}"),
        ("\ud83d", "'\ud83d'"),
        ("\0" + "٣", "'\\0٣'"),
    ],
)
def test_the_canonical_form(value: Any, text: str) -> None:
    assert stringify_json5(value) == text


@pytest.mark.parametrize("value", [b"x", {1, 2}, object(), {1: 2}, {None: 1}, [{"a": {True: 1}}], 1j, range(3)])
def test_other_types_are_refused(value: Any) -> None:
    with pytest.raises(WriteTypeError) as caught:
        stringify_json5(value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)


def test_the_message_names_the_type_and_the_key() -> None:
    with pytest.raises(WriteTypeError, match=r"bytes.*the key when"):
        stringify_json5({"a": 1, "when": b"x"})


def test_a_cycle_is_refused_and_a_shared_part_is_not() -> None:
    part: list[Any] = [1]
    assert stringify_json5([part, part, {"a": part}]) == "[[1], [1], {a: [1]}]"
    part.append({"again": part})
    with pytest.raises(WriteError, match="holds itself"):
        stringify_json5(part)


def test_derived_types_are_written_as_their_base() -> None:
    class Text(str):
        def __str__(self) -> str:
            return "other"

    class Number(int):
        def __repr__(self) -> str:
            return "other"

    class Table(dict[str, Any]):
        pass

    assert stringify_json5(Table(a=Text("x"), b=Number(3), c=type("F", (float,), {})(1.5))) == "{a: 'x', b: 3, c: 1.5}"


def test_identifier_characters() -> None:
    assert all(is_start(c) for c in "$_aéΣªⅫ\u1885\u2118\u212e\u309b\u037a\ufdfa\uff9e")
    assert not any(is_start(c) for c in "1-\u200c\u00b7\u0301\u2e2f \0")
    assert all(is_part(c) for c in "1\u0301\u200c\u200d\u00b7\u0387\u1369\u1371\u19da\u30fb\uff65‿")
    assert not any(is_part(c) for c in "-\u2e2f.\u1372\xad")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (0.0, -0.0, False),
        (0, -0.0, False),
        (math.nan, float("nan"), True),
        (True, 1, False),
        (None, False, False),
        ("1", 1, False),
        (2**53 + 1, 2.0**53, True),
        ([1, [2]], (1, [2]), True),
        ([1], [1, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({}, [], False),
        (b"x", b"x", True),
    ],
)
def test_equality_of_values(one: Any, other: Any, same: bool) -> None:
    assert same_value(one, other) is same
    assert same_value(other, one) is same


def test_equality_ends_on_cycles() -> None:
    one: list[Any] = []
    one.append(one)
    other: list[Any] = []
    other.append(other)
    assert same_value(one, other)
