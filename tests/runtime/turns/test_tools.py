"""The tools of a host: a call always has an output (`tools`, `workers`)."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial
from typing import Any

import pytest

from chatml_runtime.host.tools import Toolbox
from chatml_runtime.host.workers import called
from chatml_runtime.moderation.capabilities import ToolError, ToolOk
from chatml_runtime.moderation.tool_calls import output_of
from chatml_runtime.moderation.vocabulary import ToolCall, ToolDesc
from chatml_runtime.script.errors import OperationFailed
from chatml_runtime.testing import call
from tests.runtime.turns.runs import Talk, in_loop

ADD = ToolCall("c1", "add", {"a": 1, "b": 2})


def add(args: Any) -> Any:
    return args["a"] + args["b"]


def test_functions_become_tools() -> None:
    toolbox = Toolbox()
    toolbox.tool("add", "Adds.", {"type": "object"})(add)
    assert toolbox.descriptions == (ToolDesc("add", "Adds.", {"type": "object"}),)
    assert in_loop(toolbox(ADD)) == "3"
    assert in_loop(toolbox.capability("add", {"a": 1, "b": 2})) == ToolOk(3)
    assert [tool.function for tool in toolbox] == [add]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"a": 1}, "'b'"),
        ({"a": 1, "b": "x"}, "unsupported"),
        ("text", "arguments of the tool"),
        ([1], "are [1]"),
        (None, ""),
    ],
)
def test_an_exception_is_an_output(args: Any, error: str) -> None:
    """What does not fit, the function or the shape of arguments, is told; no function sees anything but an object."""
    toolbox = Toolbox()
    toolbox.tool("add")(add)
    output = in_loop(toolbox(ToolCall("c1", "add", args)))
    assert output.startswith('{"error":')
    assert error in output
    answer = in_loop(toolbox.capability("add", args))
    assert isinstance(answer, ToolError)
    assert error in answer.message


def test_an_unknown_tool_is_an_output() -> None:
    assert in_loop(Toolbox()(ADD)) == '{"error":"Unknown tool \\"add\\"; known: none"}'


def test_an_answer_that_is_no_json_is_an_error() -> None:
    toolbox = Toolbox()
    toolbox.tool("add")(lambda args: {1, 2})
    assert "is not JSON" in in_loop(toolbox(ADD))


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        ("text", "text"),
        ("", ""),
        (None, "null"),
        ([], "[]"),
        ([1, 2.5], "[1,2.5]"),
        ([{"type": "input_text", "text": "a"}], [{"type": "input_text", "text": "a"}]),
        ([{"type": "input_image", "image_url": "u"}], [{"type": "input_image", "image_url": "u"}]),
        ([{"type": "input_text"}], '[{"type":"input_text"}]'),
        ({"a": [True]}, '{"a":[true]}'),
    ],
)
def test_outputs(answer: Any, output: Any) -> None:
    assert output_of("t", answer) == output


@pytest.mark.parametrize("answer", [float("nan"), object(), "\ud800", {"a": {1}}])
def test_outputs_that_are_no_json(answer: Any) -> None:
    with pytest.raises(OperationFailed, match='"t"'):
        output_of("t", answer)


def test_every_kind_of_callable() -> None:
    """Coroutine functions run in the event loop, anything else in a thread; what is awaitable is awaited."""
    places = []

    def plain(n: int) -> int:
        places.append(threading.current_thread())
        return n

    async def awaited(n: int) -> int:
        return plain(n)

    class Object:
        async def __call__(self, n: int) -> int:
            return plain(n)

    async def main() -> None:
        functions = (plain, awaited, Object(), partial(awaited), partial(plain), lambda n: awaited(n))
        assert [await called(function, 7) for function in functions] == [7] * 6

    in_loop(main())
    here = threading.current_thread()
    assert [place is here for place in places] == [False, True, True, True, False, True]


def test_an_exception_of_a_thread_arrives() -> None:
    def stops(args: Any) -> None:
        raise StopIteration("no more")

    async def main() -> None:
        with pytest.raises(RuntimeError, match="no more"):
            await called(stops, None)
        with pytest.raises(ZeroDivisionError):
            await called(lambda n: 1 // n, 0)

    in_loop(main())


def test_plain_tools_run_side_by_side() -> None:
    """Two calls that wait for each other both finish."""
    barrier = threading.Barrier(2, timeout=30)

    def meets(args: Any) -> str:
        barrier.wait()
        return "met"

    toolbox = Toolbox()
    toolbox.tool("meet")(meets)
    talk = Talk(None, [[call("meet", {}, "c1"), call("meet", {}, "c2")], []], run_tool=toolbox)
    talk.run()
    assert talk.outputs == ["met", "met"]


class Crowd:
    """A tool that notes how many calls of it run at a time."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.order: list[int] = []

    async def __call__(self, call: ToolCall) -> str:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(0.001 * (20 - call.args["n"]))
        self.inside -= 1
        self.order.append(call.args["n"])
        return str(call.args["n"])


@pytest.mark.parametrize(("options", "most"), [({}, 8), ({"max_parallel_tools": 3}, 3), ({"parallel_tools": False}, 1)])
def test_a_bound_on_tools_at_a_time(options: dict[str, Any], most: int) -> None:
    """Results are moderated and recorded in the order of the calls, whichever is ready first."""
    crowd = Crowd()
    source = """
      let initial_state = []
      let on_event ctx st ev =
        match ev with
        | `Post_tool_response(r) -> Task.pure(Array.append(st, [r.call_id]))
        | _ -> Task.pure(st)
    """
    calls = [call("t", {"n": n}, f"c{n}") for n in range(20)]
    talk = Talk(source, [calls, []], run_tool=crowd, **options)
    talk.run()
    assert crowd.most == most
    assert talk.outputs == [str(n) for n in range(20)]
    assert talk.moderator is not None
    assert talk.moderator.state == [f"c{n}" for n in range(20)]
    assert (crowd.order == list(range(20))) is (most == 1)


def test_one_after_another_runs_each_call_before_the_next_item_is_read() -> None:
    seen: list[str] = []

    def streaming(inputs: Any) -> Any:
        yield call("t", {"n": 1}, "c1")
        seen.append("second item")
        yield call("t", {"n": 2}, "c2")

    async def tool(call: ToolCall) -> str:
        seen.append(call.id)
        return ""

    Talk(None, [streaming, []], run_tool=tool, parallel_tools=False).run()
    assert seen == ["c1", "second item", "c2"]


def test_a_slow_tool_in_time_is_an_ordinary_tool() -> None:
    toolbox = Toolbox(timeout_ms=30_000)
    toolbox.tool("add")(lambda args: time.sleep(0.001) or "ready")
    assert in_loop(toolbox(ADD)) == "ready"
