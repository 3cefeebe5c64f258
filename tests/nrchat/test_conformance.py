"""The conformance cases of the format, N-001 to N-073, each under its own id (nrchat.md Appendix A)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from chatmd import nrchat
from chatml.diagnostics.errors import ChatmlError

CASES = [json.loads(line) for line in (Path(__file__).parent / "conformance.jsonl").read_text("utf-8").splitlines()]
ERRORS = {
    "syntax": nrchat.NrChatError,
    "type": TypeError,
    "value": ValueError,
    "range": nrchat.SpanError,
}


def decoded(value: Any) -> Any:
    """A value of a case with its tags resolved."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if isinstance(value, dict):
        if "$num" in value:
            text = value["$num"]
            return int(text) if text.isdigit() else float(text.replace("Infinity", "inf"))
        members = value["$obj"] if "$obj" in value else value.items()
        return {key: decoded(item) for key, item in members}
    return value


def exact(value: Any) -> Any:
    """A value in a form whose equality is that of the cases: signed doubles, bool apart, keys in order."""
    if isinstance(value, list):
        return ["list", *map(exact, value)]
    if isinstance(value, dict):
        return ["dict", *([key, exact(item)] for key, item in value.items())]
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
        return ["number", "NaN"] if math.isnan(number) else ["number", number, math.copysign(1, number)]
    return [type(value).__name__, value]


def message(fields: dict[str, Any]) -> nrchat.Message:
    meta = fields.get("meta")
    return nrchat.Message(
        role=fields["role"],
        name=fields.get("name"),
        meta=None if meta is None else decoded(meta),
        body=fields["body"],
        raw_meta=fields.get("rawMeta"),
        span=nrchat.Span(*fields["span"]) if "span" in fields else None,
    )


def messages(case: dict[str, Any]) -> list[nrchat.Message]:
    return [message(fields) for fields in case]


OPERATIONS = {
    "parse": nrchat.parse,
    "stringify": lambda case: nrchat.stringify(messages(case)),
    "roundtrip": lambda text: nrchat.stringify(nrchat.parse(text)),
    "escape_body": nrchat.escape_body,
    "fence_for": nrchat.fence_for,
    "parse_json5": nrchat.parse_json5,
    "stringify_json5": lambda value: nrchat.stringify_json5(decoded(value)),
    "canon_json5": lambda text: nrchat.stringify_json5(nrchat.parse_json5(text)),
    "replace_span": lambda case: nrchat.replace_span(
        case["text"], nrchat.Span(case["span"]["start"], case["span"]["end"]), case["replacement"]
    ),
}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    operation = OPERATIONS[case["op"]]
    if "error" in case:
        with pytest.raises(ERRORS[case["error"]["kind"]]) as caught:
            operation(case["in"])
        assert isinstance(caught.value, ChatmlError)
        assert isinstance(caught.value, ValueError)
        if "line" in case["error"]:
            assert caught.value.line == case["error"]["line"]
        return
    result = operation(case["in"])
    if case["op"] == "parse":
        expected = messages(case["out"])
        assert [(m.role, m.name, m.body, m.raw_meta, m.span) for m in result] == [
            (m.role, m.name, m.body, m.raw_meta, m.span) for m in expected
        ]
        assert exact([m.meta for m in result]) == exact([m.meta for m in expected])
    else:
        assert exact(result) == exact(decoded(case["out"]))


def test_every_case_is_here() -> None:
    assert [case["id"] for case in CASES] == [f"N-{number:03}" for number in range(1, 74)]
