"""When something fails in the middle of a run: what the host sees, and that the history is consistent."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from chatml_runtime.host.conversation import Conversation, RunEnd
from chatml_runtime.host.tools import Tool, Toolbox
from chatml_runtime.moderation.identities import EntryId, HistoryEntry, IdentityError
from chatml_runtime.moderation.vocabulary import ToolDesc
from chatml_runtime.script import problems
from chatml_runtime.script.errors import (
    ModelResponseError,
    OperationFailed,
    SessionBusyError,
    SessionSuspendedError,
    TaskFailedError,
)
from chatml_runtime.testing import call, say, think, user
from tests.runtime.turns.runs import Talk, check_pairs, in_loop

WATCH = "| `Never -> Task.pure(st)"
A, B = call("a", {}, "c1"), call("b", {}, "c2")


def runs(args: Any) -> str:
    return "ran"


TOOLS = {"a": runs, "b": runs}
CLOSED = problems.UNANSWERED_CALL


def test_a_model_that_raises_in_mid_response() -> None:
    """The host gets the client's own exception; what had arrived stays, the call has an output that says so."""
    talk = Talk(WATCH, [[say("look"), A, ConnectionError("reset"), B], [say("again")]], TOOLS)
    with pytest.raises(ConnectionError, match="reset"):
        talk.run()
    assert talk.kinds == ["user", "assistant", "call", "output"]
    assert talk.outputs == [CLOSED]
    assert talk.phases == ["turn_start", "message_appended", "pre_tool_call", "message_appended"]
    check_pairs(talk.conversation.history)
    assert talk.entries == list(talk.conversation.history[1:])
    assert talk.run().end is RunEnd.STOPPED  # the next run goes on from there
    assert talk.items[-1] == say("again")


def test_a_model_that_raises_at_once() -> None:
    class Refusing:
        def respond(self, inputs: Any, tools: Any) -> Any:
            raise PermissionError("no key")

    talk = Talk(WATCH, Refusing())
    with pytest.raises(PermissionError):
        talk.run()
    assert (talk.kinds, talk.phases) == (["user"], ["turn_start"])


def test_a_tool_that_raises_fails_the_run() -> None:
    """The other tool of the response is cancelled; the host gets the exception, each call an output."""
    cancelled = []
    hanging = asyncio.Event()

    async def hangs(args: Any) -> str:
        hanging.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(args)
            raise
        return ""

    async def raises(args: Any) -> str:
        await hanging.wait()
        raise OSError("disk full")

    talk = Talk(WATCH, [[A, B]], {"a": raises, "b": hangs})
    with pytest.raises(OSError, match="disk full"):
        talk.run()
    assert talk.outputs == [CLOSED, CLOSED]
    assert cancelled == [{}]
    check_pairs(talk.conversation.history)


@pytest.mark.parametrize("asynchronous", [True, False], ids=["coroutine", "thread"])
def test_a_tool_that_hangs_past_its_timeout(asynchronous: bool) -> None:
    """A toolbox gives the call an output that says so, and the run goes on; what the tool says later is dropped."""
    release = threading.Event()
    finished = threading.Event()

    async def hangs(args: Any) -> str:
        await asyncio.Event().wait()
        return ""

    def blocks(args: Any) -> str:
        release.wait(30)
        finished.set()
        return "too late"

    toolbox = Toolbox(timeout_ms=20)
    toolbox.tool("a")(hangs if asynchronous else blocks)
    talk = Talk(WATCH, [[A], [say("pity")]], run_tool=toolbox)
    report = talk.run()
    assert report.end is RunEnd.STOPPED
    assert talk.outputs == ['{"error":"The tool \\"a\\" did not answer within 20 ms"}']
    assert talk.kinds == ["user", "call", "output", "assistant"]
    release.set()
    assert asynchronous or finished.wait(30)


def test_a_tool_that_does_not_let_itself_be_cancelled_is_left_behind() -> None:
    async def stubborn(args: Any) -> str:
        for _ in range(3):
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        return "still here"

    toolbox = Toolbox([Tool(ToolDesc("a"), stubborn, timeout_ms=0)])
    talk = Talk(WATCH, [[A], []], run_tool=toolbox)
    talk.run()
    assert "did not answer within 0 ms" in talk.outputs[0]


def test_a_run_that_is_cancelled() -> None:
    """The history is closed, also when the host gives up in the middle of a tool."""

    async def hangs(args: Any) -> str:
        await asyncio.Event().wait()
        return ""

    talk = Talk(WATCH, [[say("look"), A]], {"a": hangs})

    async def give_up() -> None:
        task = asyncio.create_task(talk.conversation.run())
        while not talk.called:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    in_loop(give_up())
    assert talk.outputs == [CLOSED]
    check_pairs(talk.conversation.history)


FAILING = """
  | `{event} -> Task.fail("policy")
"""
PHASES = {
    "Turn_start": ["user"],
    "Item_appended(i)": ["user"],
    "Pre_tool_call(c)": ["user", "assistant"],
    "Post_tool_response(r)": ["user", "assistant", "call", "call", "output", "output"],
    "Turn_end": ["user", "assistant", "call", "call", "output", "output"],
}


@pytest.mark.parametrize("event", PHASES)
def test_a_moderator_that_fails_in_a_phase(event: str) -> None:
    """Nothing goes on unmoderated: no further request, and nothing joins the history whose event has failed."""
    talk = Talk(FAILING.format(event=event), [[say("look"), A, B]], TOOLS)
    with pytest.raises(TaskFailedError, match="policy"):
        talk.run()
    assert talk.kinds == PHASES[event]
    assert len(talk.model.requests) == (event != "Turn_start")
    check_pairs(talk.conversation.history)
    published = talk.outputs
    assert published == ([CLOSED] * 2 if event.startswith("Post") else ["ran"] * 2 if event == "Turn_end" else [])
    assert talk.moderator is not None
    assert talk.moderator.state == 0


@pytest.mark.parametrize("which", [1, 2, 3, 4, 5])
def test_a_moderator_that_fails_at_one_of_the_appended_entries(which: int) -> None:
    """Message, two calls, two outputs: what comes before the failing one stays, calls are closed."""
    source = f"""
      | `Item_appended(i) -> if st == {which - 1} then Task.fail("policy") else Task.pure(st + 1)
    """
    talk = Talk(source, [[say("look"), A, B]], TOOLS)
    with pytest.raises(TaskFailedError):
        talk.run()
    expected = {
        1: [],
        2: ["assistant"],
        3: ["assistant", "call", "output"],
        4: ["assistant", "call", "call", "output", "output"],
        5: ["assistant", "call", "call", "output", "output"],
    }
    assert talk.kinds == ["user", *expected[which]]
    assert talk.outputs == {3: [CLOSED], 4: [CLOSED, CLOSED], 5: ["ran", CLOSED]}.get(which, [])
    check_pairs(talk.conversation.history)


def test_a_question_that_nobody_can_answer_fails_the_run() -> None:
    source = '| `Turn_end -> if st > 0 then Task.pure(st) else let* a = Approval.ask_text("?") in Task.pure(1)'
    talk = Talk(source, [[A], []], TOOLS)
    with pytest.raises(SessionSuspendedError):
        talk.run()
    assert talk.outputs == ["ran"]
    with pytest.raises(SessionSuspendedError):  # still: it is the host's to answer
        talk.run()
    assert talk.moderator is not None
    talk.moderator.resume("yes")
    assert talk.run().end is RunEnd.STOPPED


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (["text"], "item 0 .*object"),
        ([say("fine"), {"role": "user"}], "item 1 .*`type`"),
        ([{"type": "function_call", "name": "a", "arguments": {}, "call_id": "c"}], "arguments: expected a string"),
        ([{"type": "function_call", "arguments": "{}", "call_id": "c"}], "name: the field is missing"),
        ([{"type": "function_call_output", "call_id": "c", "output": ""}], "output is the host's"),
    ],
)
def test_a_model_client_that_answers_with_what_is_no_item(response: list[Any], said: str) -> None:
    talk = Talk(WATCH, [response])
    with pytest.raises(ModelResponseError, match=said):
        talk.run()
    check_pairs(talk.conversation.history)


@pytest.mark.parametrize("answer", ["text", {"type": "message"}, 7, None])
def test_a_model_client_that_answers_with_no_items(answer: Any) -> None:
    class Odd:
        def respond(self, inputs: Any, tools: Any) -> Any:
            return answer

    with pytest.raises(ModelResponseError, match=type(answer).__name__):
        Talk(WATCH, Odd()).run()


def test_every_shape_of_model_client() -> None:
    """An async generator, a coroutine, a plain list; unknown types of items are the provider's own and stay."""
    items = [think("hm"), {"type": "image_generation_call", "id": "x"}, say("hi")]

    class Coroutine:
        async def respond(self, inputs: Any, tools: Any) -> Any:
            return items

    class Plain:
        def respond(self, inputs: Any, tools: Any) -> Any:
            return iter(items)

    for model in (Coroutine(), Plain(), [items]):
        talk = Talk(WATCH, model)
        assert talk.run().end is RunEnd.STOPPED
        assert talk.items[1:] == items
        assert talk.phases.count("message_appended") == 3


def test_a_stream_is_closed_when_the_run_fails() -> None:
    closed = []

    class Streaming:
        async def respond(self, inputs: Any, tools: Any) -> Any:
            try:
                yield say("one")
                yield say("two")
            finally:
                closed.append(True)

    talk = Talk(FAILING.format(event="Item_appended(i)"), Streaming())
    with pytest.raises(TaskFailedError):
        talk.run()
    assert closed == [True]


def test_an_output_that_is_no_json_names_its_tool() -> None:
    talk = Talk(WATCH, [[A]], {"a": lambda args: object()})
    with pytest.raises(OperationFailed, match=r'"a".*JSON'):
        talk.run()
    assert talk.outputs == [CLOSED]


def test_a_host_whose_listener_fails_has_a_consistent_history_too() -> None:
    def raises(entry: HistoryEntry) -> None:
        if entry.item["type"] == "function_call":
            raise ValueError("screen")

    talk = Talk(WATCH, [[A, B]], TOOLS, on_entry=raises)
    with pytest.raises(ValueError, match="screen"):
        talk.run()
    check_pairs(talk.conversation.history)


def test_one_run_at_a_time() -> None:
    async def hangs(args: Any) -> str:
        with pytest.raises(SessionBusyError):
            await talk.conversation.run()
        with pytest.raises(SessionBusyError):
            talk.conversation.replace_history([])
        return "ran"

    talk = Talk(None, [[A], []], {"a": hangs})
    talk.run()
    assert talk.outputs == ["ran"]


def test_a_history_that_clashes_with_its_allocator_is_refused() -> None:
    talk = Talk(None)
    with pytest.raises(IdentityError, match="next_sequence"):
        Conversation(
            talk.driver,
            history=[HistoryEntry(EntryId("s1", 7), user("x"))],
            allocator=talk.allocator,
            model=talk.model,
            run_tool=talk.run_tool,
        )
