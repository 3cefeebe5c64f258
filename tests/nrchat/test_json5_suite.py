"""The cases of the official JSON5 suite as facts: the name of each case, a text of its kind, and what it means.

Cases whose files hold longer texts (a whole package description) are represented by a text with the same features.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from chatmd.nrchat import Json5Error, parse_json5
from tests.nrchat.test_conformance import exact

INFINITY, NAN = math.inf, math.nan
PACKAGE = {
    "name": "npm",
    "publishConfig": {"proprietary-attribs": False},
    "keywords": ["package manager", "package.json"],
    "preferGlobal": True,
    "dependencies": {"semver": "~1.0.14", "fstream-npm": "0 >=0.0.5"},
    "licenses": [{"type": "MIT +no-false-attribs"}],
}

ACCEPTED: dict[str, tuple[str, Any]] = {
    "arrays/empty-array": ("[]", []),
    "arrays/regular-array": ("[\n    true,\n    false,\n    null\n]", [True, False, None]),
    "arrays/trailing-comma-array": ("[\n    null,\n]", [None]),
    "comments/block-comment-following-array-element": ("[\n    false\n    /*\n        true\n    */\n]", [False]),
    "comments/block-comment-following-top-level-value": ("null\n/*\n    a value,\n    then this\n*/", None),
    "comments/block-comment-in-string": ('"This /* is */ text."', "This /* is */ text."),
    "comments/block-comment-preceding-top-level-value": ("/*\n    first this,\n    then a value\n*/\nnull", None),
    "comments/block-comment-with-asterisks": ("/**\n * stars * inside\n * and at the end\n **/\ntrue", True),
    "comments/inline-comment-following-array-element": ("[\n    false   // true\n]", [False]),
    "comments/inline-comment-following-top-level-value": ("null // a value, then this", None),
    "comments/inline-comment-in-string": ('"This // is text."', "This // is text."),
    "comments/inline-comment-preceding-top-level-value": ("// first this, then a value\nnull", None),
    "misc/npm-package.json": (
        '{\n  "name": "npm",\n  "publishConfig": {\n    "proprietary-attribs": false\n  },\n  "keywords": [\n'
        '    "package manager",\n    "package.json"\n  ],\n  "preferGlobal": true,\n  "dependencies": {\n'
        '    "semver": "~1.0.14",\n    "fstream-npm": "0 >=0.0.5"\n  },\n  "licenses": [\n    {\n'
        '      "type": "MIT +no-false-attribs"\n    }\n  ]\n}\n',
        PACKAGE,
    ),
    "misc/npm-package.json5": (
        "{\n  name: 'npm',\n  publishConfig: {\n    'proprietary-attribs': false,\n  },\n  keywords: [\n"
        "    'package manager',\n    'package.json',\n  ],\n  preferGlobal: true,\n  dependencies: {\n"
        "    semver: '~1.0.14',\n    'fstream-npm': '0 >=0.0.5',\n  },\n  licenses: [\n    {\n"
        "      type: 'MIT +no-false-attribs',\n    },\n  ],\n}\n",
        PACKAGE,
    ),
    "misc/readme-example": (
        "{\n    foo: 'bar',\n    while: true,\n\n    this: 'is a \\\nmulti-line string',\n\n    // an inline comment\n"
        "    here: 'is another', // inline comment\n\n    /* a block comment\n       on two lines */\n\n"
        "    hex: 0xDEADbeef,\n    half: .5,\n    delta: +10,\n    to: Infinity,   // and beyond!\n\n"
        "    finally: 'a trailing comma',\n    oh: [\n        \"we shouldn't forget\",\n        'trailing commas',\n"
        "    ],\n}\n",
        {
            "foo": "bar",
            "while": True,
            "this": "is a multi-line string",
            "here": "is another",
            "hex": 0xDEADBEEF,
            "half": 0.5,
            "delta": 10,
            "to": INFINITY,
            "finally": "a trailing comma",
            "oh": ["we shouldn't forget", "trailing commas"],
        },
    ),
    "misc/valid-whitespace": ('{\n \f   // a form feed stands before this comment\n  "a": true\n}\n', {"a": True}),
    "new-lines/comment-cr": ("{\r    // ended by CR\r}\r", {}),
    "new-lines/comment-crlf": ("{\r\n    // ended by CR LF\r\n}\r\n", {}),
    "new-lines/comment-lf": ("{\n    // ended by LF\n}\n", {}),
    "new-lines/escaped-cr": ("{\r    a: 'line 1 \\\rline 2'\r}\r", {"a": "line 1 line 2"}),
    "new-lines/escaped-crlf": ("{\r\n    a: 'line 1 \\\r\nline 2'\r\n}\r\n", {"a": "line 1 line 2"}),
    "new-lines/escaped-lf": ("{\n    a: 'line 1 \\\nline 2'\n}\n", {"a": "line 1 line 2"}),
    "numbers/float": ("1.2\n", 1.2),
    "numbers/float-leading-decimal-point": (".5\n", 0.5),
    "numbers/float-leading-zero": ("0.5\n", 0.5),
    "numbers/float-trailing-decimal-point": ("5.\n", 5.0),
    "numbers/float-trailing-decimal-point-with-integer-exponent": ("5.e4\n", 50000.0),
    "numbers/float-with-integer-exponent": ("1.2e3\n", 1200.0),
    "numbers/hexadecimal": ("0xC8\n", 200),
    "numbers/hexadecimal-lowercase-letter": ("0xc8\n", 200),
    "numbers/hexadecimal-uppercase-x": ("0XC8\n", 200),
    "numbers/hexadecimal-with-integer-exponent": ("0xc8e4\n", 0xC8E4),
    "numbers/infinity": ("Infinity\n", INFINITY),
    "numbers/integer": ("15\n", 15),
    "numbers/integer-with-integer-exponent": ("2e23\n", 2e23),
    "numbers/integer-with-negative-integer-exponent": ("2e-23\n", 2e-23),
    "numbers/integer-with-negative-zero-integer-exponent": ("5e-0\n", 5.0),
    "numbers/integer-with-positive-integer-exponent": ("1e+2\n", 100.0),
    "numbers/integer-with-positive-zero-integer-exponent": ("5e+0\n", 5.0),
    "numbers/integer-with-zero-integer-exponent": ("5e0\n", 5.0),
    "numbers/nan": ("NaN\n", NAN),
    "numbers/negative-float": ("-1.2\n", -1.2),
    "numbers/negative-float-leading-decimal-point": ("-.5\n", -0.5),
    "numbers/negative-float-leading-zero": ("-0.5\n", -0.5),
    "numbers/negative-float-trailing-decimal-point": ("-5.\n", -5.0),
    "numbers/negative-hexadecimal": ("-0xC8\n", -200),
    "numbers/negative-infinity": ("-Infinity\n", -INFINITY),
    "numbers/negative-integer": ("-15\n", -15),
    "numbers/negative-zero-float": ("-0.0\n", -0.0),
    "numbers/negative-zero-float-leading-decimal-point": ("-.0\n", -0.0),
    "numbers/negative-zero-float-trailing-decimal-point": ("-0.\n", -0.0),
    "numbers/negative-zero-hexadecimal": ("-0x0\n", -0.0),
    "numbers/negative-zero-integer": ("-0\n", -0.0),
    "numbers/positive-float": ("+1.2\n", 1.2),
    "numbers/positive-float-leading-decimal-point": ("+.5\n", 0.5),
    "numbers/positive-float-leading-zero": ("+0.5\n", 0.5),
    "numbers/positive-float-trailing-decimal-point": ("+5.\n", 5.0),
    "numbers/positive-hexadecimal": ("+0xC8\n", 200),
    "numbers/positive-infinity": ("+Infinity\n", INFINITY),
    "numbers/positive-integer": ("+15\n", 15),
    "numbers/positive-zero-float": ("+0.0\n", 0.0),
    "numbers/positive-zero-float-leading-decimal-point": ("+.0\n", 0.0),
    "numbers/positive-zero-float-trailing-decimal-point": ("+0.\n", 0.0),
    "numbers/positive-zero-hexadecimal": ("+0x0\n", 0),
    "numbers/positive-zero-integer": ("+0\n", 0),
    "numbers/zero-float": ("0.0\n", 0.0),
    "numbers/zero-float-leading-decimal-point": (".0\n", 0.0),
    "numbers/zero-float-trailing-decimal-point": ("0.\n", 0.0),
    "numbers/zero-hexadecimal": ("0x0\n", 0),
    "numbers/zero-integer": ("0\n", 0),
    "numbers/zero-integer-with-integer-exponent": ("0e23\n", 0.0),
    "objects/duplicate-keys": ('{\n    "a": true,\n    "a": false\n}\n', {"a": False}),
    "objects/empty-object": ("{}", {}),
    "objects/reserved-unquoted-key": ("{\n    while: true\n}", {"while": True}),
    "objects/single-quoted-key": ("{\n    'hello': \"world\"\n}", {"hello": "world"}),
    "objects/trailing-comma-object": ('{\n    "foo": "bar",\n}', {"foo": "bar"}),
    "objects/unquoted-keys": (
        '{\n    hello: "world",\n    _: "a",\n    $: "b",\n    one1: "c",\n    _$_: "d",\n    $_$h123o_$_: "e"\n}',
        {"hello": "world", "_": "a", "$": "b", "one1": "c", "_$_": "d", "$_$h123o_$_": "e"},
    ),
    "strings/escaped-single-quoted-string": ("'I can\\'t wait'", "I can't wait"),
    "strings/multi-line-string": ("'hello\\\n world'", "hello world"),
    "strings/single-quoted-string": ("'hello world'", "hello world"),
    "todo/unicode-escaped-unquoted-key": ('{\n    sig\\u03A3ma: "sum"\n}', {"sigΣma": "sum"}),
    "todo/unicode-unquoted-key": ('{\n    ümlåût: "that"\n}', {"ümlåût": "that"}),
}
REFUSED = {
    "arrays/leading-comma-array": "[\n    ,null\n]",
    "arrays/lone-trailing-comma-array": "[\n    ,\n]",
    "arrays/no-comma-array": "[\n    true\n    false\n]",
    "comments/top-level-block-comment": "/*\n    nothing\n    but this\n*/",
    "comments/top-level-inline-comment": "// nothing but this",
    "comments/unterminated-block-comment": "true\n/*\n    a value stands above,\n    but this has no end\n",
    "misc/empty": "",
    "numbers/hexadecimal-empty": "0x\n",
    "numbers/integer-with-float-exponent": "1e2.3\n",
    "numbers/integer-with-hexadecimal-exponent": "1e0x4\n",
    "numbers/integer-with-negative-float-exponent": "1e-2.3\n",
    "numbers/integer-with-negative-hexadecimal-exponent": "1e-0x4\n",
    "numbers/integer-with-positive-float-exponent": "1e+2.3\n",
    "numbers/integer-with-positive-hexadecimal-exponent": "1e+0x4\n",
    "numbers/lone-decimal-point": ".\n",
    "numbers/negative-noctal": "-098\n",
    "numbers/negative-octal": "-0123\n",
    "numbers/negative-zero-octal": "-00\n",
    "numbers/noctal": "080\n",
    "numbers/noctal-with-leading-octal-digit": "0780\n",
    "numbers/octal": "010\n",
    "numbers/positive-noctal": "+098\n",
    "numbers/positive-octal": "+0123\n",
    "numbers/positive-zero-octal": "+00\n",
    "numbers/zero-octal": "00\n",
    "objects/illegal-unquoted-key-number": '{\n    10twenty: "ten twenty"\n}',
    "objects/illegal-unquoted-key-symbol": '{\n    multi-word: "multi-word"\n}',
    "objects/leading-comma-object": '{\n    ,"foo": "bar"\n}',
    "objects/lone-trailing-comma-object": "{\n    ,\n}",
    "objects/no-comma-object": '{\n    "foo": "bar"\n    "hello": "world"\n}',
    "strings/unescaped-multi-line-string": '"foo\nbar"\n',
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    text, value = ACCEPTED[name]
    result = parse_json5(text)
    assert exact(result) == exact(value)
    assert type(result) is type(value)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(Json5Error):
        parse_json5(REFUSED[name])


def test_the_suite_is_whole() -> None:
    assert (len(ACCEPTED), len(REFUSED)) == (82, 31)
