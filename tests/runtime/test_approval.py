"""An approval is of one exact call, used once, and never changes after it was given (live.md D.2, D.3)."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml_runtime.moderation.approval import Approval, call_hash, question_hash
from chatml_runtime.moderation.vocabulary import ToolCall, ToolKind
from chatml_runtime.script.approvals import AskChoice, AskText
from chatml_runtime.script.digests import canonical_json
from chatml_runtime.script.problems import NOT_APPROVED
from chatml_runtime.testing import call
from tests.runtime.turns.runs import Talk

data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=8,
)


def hash_of(payload: str, **facts: Any) -> str:
    return call_hash("s", "1:s:0", attrs.evolve(ToolCall("c1", "rm", None, payload=payload), **facts))


@given(data)
def test_canonical_json_is_json(value: Any) -> None:
    """Canonical JSON reads as what it was written of, with sorted keys."""
    assert json.loads(canonical_json(value)) == value
    assert canonical_json(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@given(st.dictionaries(st.text(), data, max_size=4), st.randoms())
def test_equal_arguments_have_one_hash(args: dict[str, Any], random: Any) -> None:
    """However the text of the arguments is written, equal data have equal hashes; other data have others."""
    keys = list(args)
    random.shuffle(keys)
    plain, shuffled = json.dumps(args), json.dumps({key: args[key] for key in keys}, indent=2)
    assert hash_of(plain) == hash_of(shuffled)
    assert hash_of(plain) != hash_of(json.dumps({**args, "one more": 1}))
    assert hash_of(plain) != hash_of(plain, kind=ToolKind.CUSTOM)


def test_what_a_hash_is_of() -> None:
    assert hash_of('{"n": 9007199254740993}') != hash_of('{"n": 9007199254740992}'), "integers as they stand"
    assert hash_of('{"a": 1, "a": 2}') == hash_of('{"a": 1}'), "a repeated key once, with its first value"
    assert hash_of("") == hash_of("{}"), "no arguments are none"
    assert hash_of('{"a": 1') != hash_of('{"a":1'), "what is no JSON is its text"
    assert hash_of("[" * 100_000 + "]" * 100_000) == hash_of("[" * 100_000 + "]" * 100_000)
    assert hash_of('"NaN"') != hash_of("NaN")
    base = hash_of("{}")
    assert hash_of("{}", id="c2") != base
    assert hash_of("{}", name="mv") != base
    assert hash_of("[]") != base
    assert call_hash("s2", "1:s:0", ToolCall("c1", "rm", None)) != base
    assert call_hash("s", "1:s:1", ToolCall("c1", "rm", None)) != base


def test_a_question_outside_of_a_review_is_bound_to_its_words() -> None:
    assert question_hash(AskText("a?")) == question_hash(AskText("a?"))
    assert question_hash(AskText("a?")) != question_hash(AskText("b?"))
    assert question_hash(AskChoice("a?", ("x",))) != question_hash(AskChoice("a?", ("y",)))


OPEN = Approval("s/1/0", "s", "Approval.ask_choice", "run?", "h", opened_at=10, choices=("yes", "no"), expires_at=100)


@given(st.sampled_from(["answered", "expired", "abandoned", "superseded"]))
def test_a_closed_approval_stays_as_it_is(state: str) -> None:
    """Once a question is closed, nothing about it changes but the effect that has used its answer."""
    closes: Any = {
        "answered": lambda it: it.answered("yes", by="ada", via="cli", at_ms=50),
        "expired": Approval.expired,
        "abandoned": Approval.abandoned,
        "superseded": Approval.superseded,
    }
    closed = closes[state](OPEN)
    assert closed.state == state
    for close in closes.values():
        with pytest.raises(ValueError, match="already"):
            close(closed)
    assert Approval.from_json(json.loads(json.dumps(closed.to_json()))) == closed
    assert closed.refusal("h", 50) == ("expired" if state == "expired" else "closed")


def test_an_answer_counts_by_when_it_was_posted() -> None:
    assert OPEN.refusal("h", 100) is None
    assert OPEN.refusal("h", 101) == "expired"
    assert OPEN.refusal("other", 50) == "changed"


def test_an_answer_is_used_once() -> None:
    used = OPEN.answered("yes", by="ada", via="page", at_ms=50).used("s/entry")
    assert used.used("s/entry") == used, "the same effect, repeated"
    with pytest.raises(ValueError, match="cannot be used"):
        used.used("s/other")
    with pytest.raises(ValueError, match="cannot be used"):
        OPEN.used("s/entry")


REWRITES = """| `Pre_tool_call(c) ->
  let* a = Approval.ask_choice("run " ++ c.name ++ "?", ["yes", "no"]) in
  let* () = if a == "yes" then Tool.rewrite_args({args}) else Tool.reject("no") in
  Task.pure(st)
"""
OTHER = '`Object([{ key = "path"; value = `String("b") }])'
SAME = '`Object([{ key = "path"; value = `String("a") }])'


class Yes:
    async def answer(self, request: Any, problem: str | None) -> str:
        return "yes"


def outputs(script: str, **options: Any) -> list[Any]:
    talk = Talk(script, [[call("rm", {"path": "a"})], []], {"rm": lambda args: f"removed {args['path']}"}, **options)
    talk.run()
    return talk.outputs


def test_v_071_a_call_that_nobody_has_seen_does_not_run(caplog: pytest.LogCaptureFixture) -> None:
    assert outputs(REWRITES.replace("{args}", OTHER), approval=Yes()) == [NOT_APPROVED]
    assert "approval.mismatch" in caplog.text
    assert outputs(REWRITES.replace("{args}", SAME), approval=Yes()) == ["removed a"], "equal data are the same call"


def test_a_rewritten_call_runs_where_nobody_was_asked() -> None:
    script = f"| `Pre_tool_call(c) -> let* () = Tool.rewrite_args({OTHER}) in Task.pure(st)"
    assert outputs(script) == ["removed b"]
