"""Operations, their registry, the standard table, effects and approvals (runtime.md sections 4 and 7)."""

from __future__ import annotations

import logging
from typing import Any

import attrs
import pytest

from chatml.values.model import Perform, Pure, Spawn, Task
from chatml_runtime.script import effects
from chatml_runtime.script.approvals import AskChoice, AskText
from chatml_runtime.script.arguments import Kind
from chatml_runtime.script.effects import LOCAL_EFFECTS, Effect, decode_local_effect
from chatml_runtime.script.errors import (
    ApprovalResponseError,
    CommitRejectedError,
    InstantiationError,
    OperationFailed,
    TaskFailedError,
)
from chatml_runtime.script.operations import OpContext, OpDef, OpKind, allow_all_phases, require_phases
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.standard import STANDARD, Handlers
from tests.runtime.puppets import TICK, TURN_START, session, then

SAMPLES = {Kind.STRING: "text", Kind.INT: 5, Kind.STRINGS: ["a", "b"], Kind.VALUE: ("Null",)}


def sample(row: Any) -> Task:
    """A task that reaches a standard operation in the right way, with arguments of the right kinds."""
    node = Spawn if row.kind is OpKind.EXTERNAL_ASYNC else Perform
    return node(row.name, tuple(SAMPLES[kind] for kind in row.args))


@pytest.mark.parametrize("row", STANDARD, ids=lambda row: row.name)
def test_every_standard_operation(row: Any) -> None:
    """It calls its handler, gives its result, and leaves an effect only if it is local."""
    calls: list[tuple[Any, ...]] = []

    def handler(context: OpContext, *args: Any) -> Any:
        calls.append((context.op, context.phase, context.spawned, *args))
        return "id-1" if row.result is Kind.STRING else ("Answer",)

    handlers = Handlers() if row.handler is None else Handlers(**{row.handler: handler})
    it = session(lambda state, event: then(sample(row), lambda answer: Pure([answer])), handlers=handlers)
    result = it.handle_event({"phase": "turn_end"}, TICK)
    expected = {Kind.UNIT: None, Kind.STRING: "id-1", Kind.VALUE: ("Answer",)}[row.result]
    assert it.state == [expected]
    given = tuple(SAMPLES[kind] for kind in row.args)
    assert result.effects == ((Effect(row.name, given),) if row.kind is OpKind.LOCAL_TRANSACTIONAL else ())
    if row.handler is not None:
        assert [call[:3] for call in calls] == [(row.name, "turn_end", row.kind is OpKind.EXTERNAL_ASYNC)]


@pytest.mark.parametrize("row", [row for row in STANDARD if row.handler is not None], ids=lambda row: row.name)
def test_a_handler_may_refuse(row: Any) -> None:
    """A handler that raises keeps the effect out, and for `Runtime.end_session` the end as well."""

    def refuse(context: OpContext, *args: Any) -> Any:
        raise OperationFailed("vetoed")

    it = session(lambda state, event: sample(row), handlers=Handlers(**{row.handler: refuse}))
    with pytest.raises(TaskFailedError, match=r"^vetoed$"):
        it.handle_event({"phase": "turn_end"}, TICK)
    assert not it.is_halted


def test_handlers_get_decoded_effects() -> None:
    """`log` gets the level, `turn_effect` and `tool_decision` the record of the effect."""
    seen: list[Any] = []
    handlers = Handlers(
        log=lambda context, level, message: seen.append((level, message)),
        turn_effect=lambda context, effect: seen.append(effect),
        tool_decision=lambda context, effect: seen.append(effect),
    )
    task = then(
        Perform("Log.warn", ("w",)),
        lambda _: Perform("Turn.replace_message", ("id", {"id": "x"})),
        lambda _: Perform("Tool.redirect", ("other", ("Null",))),
    )
    session(lambda state, event: task, handlers=handlers).handle_event(TURN_START, TICK)
    assert seen == [
        ("warn", "w"),
        effects.ReplaceMessage("id", {"id": "x"}),
        effects.RedirectCall("other", ("Null",)),
    ]


def test_the_default_log_is_a_logger(caplog: pytest.LogCaptureFixture) -> None:
    task = then(Perform("Log.error", ("100%s",)), lambda _: Perform("Log.debug", ("d",)))
    with caplog.at_level(logging.DEBUG, logger="chatml_runtime"):
        session(lambda state, event: task).handle_event(TURN_START, TICK)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("ERROR", "100%s"),
        ("DEBUG", "d"),
    ]


@pytest.mark.parametrize("answer", [None, 3, ("Job",)])
def test_a_spawned_operation_has_to_answer_with_a_string(answer: Any) -> None:
    it = session(
        lambda state, event: Spawn("Tool.spawn", ("t", ("Null",))),
        handlers=Handlers(tool_spawn=lambda context, name, args: answer),
    )
    with pytest.raises(TaskFailedError, match=r"Tool\.spawn.*string"):
        it.handle_event(TURN_START, TICK)


def test_every_local_operation_has_a_record() -> None:
    """The records of effects and the local rows of the table name the same operations; a field per argument."""
    assert {row.name for row in STANDARD if row.kind is OpKind.LOCAL_TRANSACTIONAL} == set(LOCAL_EFFECTS)
    for record, kinds in LOCAL_EFFECTS.values():
        assert len(attrs.fields(record)) == len(kinds)


def test_an_unknown_effect_cannot_be_decoded() -> None:
    with pytest.raises(CommitRejectedError, match=r"X\.custom"):
        decode_local_effect(Effect("X.custom"))


def test_an_effect_with_wrong_arguments_cannot_be_decoded() -> None:
    """A host that replaced a standard operation may record anything; decoding refuses what does not fit."""
    with pytest.raises(CommitRejectedError, match=r"Turn\.halt"):
        decode_local_effect(Effect("Turn.halt", ("a", "b")))
    with pytest.raises(CommitRejectedError, match=r"Turn\.halt.*string"):
        decode_local_effect(Effect("Turn.halt", (1,)))


class TestRegistry:
    def op(self, name: str) -> OpDef:
        return OpDef(name, OpKind.DIAGNOSTIC, lambda context: None)

    def test_r005_duplicates_are_refused(self) -> None:
        """Each duplicated name once, sorted."""
        ops = [self.op(name) for name in ("Log.info", "A.b", "Z.z", "Log.info", "A.b", "A.b")]
        with pytest.raises(InstantiationError, match=r"A\.b, Log\.info$") as raised:
            OpRegistry(ops)
        assert raised.value.code == "runtime.duplicate_operations"

    def test_the_decorator(self) -> None:
        registry = OpRegistry()

        @registry.op("X.y", OpKind.EXTERNAL_SYNC, ["turn_end"])
        def call(context: OpContext) -> int:
            return 7

        op = registry.get("X.y")
        assert op is not None
        assert (op.call, op.kind) == (call, OpKind.EXTERNAL_SYNC)
        assert op.phase_check("turn_end") is None
        assert "turn_end" in (op.phase_check("turn_start") or "")
        with pytest.raises(InstantiationError, match=r"X\.y"):
            registry.op("X.y", OpKind.DIAGNOSTIC)(call)
        assert registry.get("X.y") is op

    def test_replacing(self) -> None:
        mine, other = self.op("Log.info"), self.op("X.y")
        standard = OpRegistry.standard()
        registry = standard.replacing(mine, other)
        assert (registry.get("Log.info"), registry.get("X.y")) == (mine, other)
        assert len(registry) == len(standard) + 1
        assert standard.get("Log.info") is not mine
        with pytest.raises(InstantiationError):
            standard.replacing(mine, mine)

    def test_it_holds_the_whole_table(self) -> None:
        assert [op.name for op in OpRegistry.standard()] == [row.name for row in STANDARD]
        assert OpRegistry.standard().get("Approval.ask_text") is None


def test_phase_checks() -> None:
    assert allow_all_phases("anything") is None
    assert require_phases("a", "b")("c") == "expected one of [a, b]"


@pytest.mark.parametrize("blank", list(" \t\n\v\f\r"))
def test_answers_are_trimmed(blank: str) -> None:
    assert AskText("?").accept(f"{blank} a b{blank}") == "a b"
    assert AskChoice("?", ("a b",)).accept(f"{blank}a b {blank}") == "a b"
    with pytest.raises(ApprovalResponseError, match=r"Approval\.ask_text.*empty"):
        AskText("?").accept(blank * 3)


@pytest.mark.parametrize("kept", ["\N{NO-BREAK SPACE}", "\x1c", "\x85", "\u2003", "\0"])
def test_only_ascii_blanks_are_trimmed(kept: str) -> None:
    assert AskText("?").accept(f" {kept}a{kept} ") == f"{kept}a{kept}"


@pytest.mark.parametrize("answer", ["no", "NO", " x ", "x", "", "yes no"])
def test_other_choices_are_refused(answer: str) -> None:
    with pytest.raises(ApprovalResponseError, match=r"Approval\.ask_choice.*match"):
        AskChoice("?", ("yes", "No", " x ")).accept(answer)


def test_an_empty_choice_can_be_declared() -> None:
    assert AskChoice("?", ("", "a")).accept("  ") == ""


@pytest.mark.parametrize("request_", [AskText("?"), AskChoice("?", ("\udcff",))], ids=["text", "choice"])
def test_an_answer_is_text(request_: AskText | AskChoice) -> None:
    """A lone surrogate does not enter a script (X-01)."""
    with pytest.raises(ApprovalResponseError, match="surrogate"):
        request_.accept("\udcff")


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        (2**62, "integer"),
        ("\udcff", "surrogate"),
        (("Ok", {"x": "\udcff"}), "surrogate"),
        ({1: 2}, "label"),
        (object(), "object"),
        (("Ok", b"bytes"), "bytes"),
    ],
    ids=["int", "text", "nested", "label", "object", "bytes"],
)
def test_answers_of_a_host_are_values(answer: Any, fact: str) -> None:
    """What the language cannot hold fails the operation by name, wherever it is in the answer."""
    it = session(
        lambda state, event: Perform("Tool.call", ("t", ("Null",))),
        handlers=Handlers(tool_call=lambda context, name, args: answer),
    )
    with pytest.raises(TaskFailedError, match=rf"Tool\.call.*{fact}"):
        it.handle_event(TURN_START, TICK)


def test_a_host_shares_nothing_with_the_state() -> None:
    """A list that a host answers with, and changes later, does not change the state behind the journal's back."""
    answer = ["old"]
    it = session(
        lambda state, event: Perform("Tool.call", ("t", ("Null",))),
        handlers=Handlers(tool_call=lambda context, name, args: answer),
    )
    it.handle_event(TURN_START, TICK)
    answer[0] = "new"
    assert it.state == ["old"]
