"""What a host offers its moderator, and what its faults become (runtime.md sections 5.4 and 9.9)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.moderation.capabilities import (
    Capabilities,
    ModelError,
    ModelOk,
    ModelRecipe,
    ModelRefused,
    ToolError,
    ToolOk,
)
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.vocabulary import InternalEvent, TurnStart
from chatml_runtime.script.errors import OperationFailed, SessionBusyError, TaskFailedError
from tests.runtime.conversations import TICK, Conversation

CALL_TOOL = """let initial_state = ""
let on_event ctx st ev = Task.catch(
  (let* r = Tool.call("t", `Object([{ key = "n"; value = `Number(1.0) }])) in Task.pure(to_string(r))),
  fun m -> Task.pure("caught: " ++ m))"""

CALL_MODEL = CALL_TOOL.replace('Tool.call("t"', 'Model.call("r"')


def outcome(script: str, **capabilities: Any) -> str:
    talk = Conversation(script, capabilities=Capabilities(**capabilities))
    talk.tick()
    state: str = talk.state
    return state


def test_answers_reach_the_script_as_values() -> None:
    assert outcome(CALL_TOOL, tool_call=lambda name, args: ToolOk({"name": name, "args": args})) == (
        "`Ok(`Object([|{ key = name; value = `String(t) }, "
        "{ key = args; value = `Object([|{ key = n; value = `Number(1.) }|]) }|]))"
    )
    assert outcome(CALL_TOOL, tool_call=lambda name, args: ToolError("down")) == "`Error(down)"
    for answer, shown in [
        (ModelOk([None]), "`Ok(`Array([|`Null|]))"),
        (ModelRefused("no"), "`Refused(no)"),
        (ModelError("down"), "`Error(down)"),
    ]:
        recipe = ModelRecipe(call=lambda payload, answer=answer: answer)
        assert outcome(CALL_MODEL, model_recipes={"r": recipe}) == shown


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ("text", ["Tool.call", "str", "ToolOk"]),
        (None, ["Tool.call", "NoneType"]),
        (ModelOk(1), ["Tool.call", "ModelOk"]),
        (ToolOk(object()), ["Tool.call", "object"]),
        (ToolOk(float("nan")), ["Tool.call"]),
        (ToolOk("\ud800"), ["Tool.call", "surrogate"]),
        (ToolError(3), ["Tool.call", "int"]),
        (ToolError("\udfff"), ["Tool.call", "surrogate"]),
    ],
)
def test_an_answer_of_a_wrong_type_fails_the_task(answer: Any, facts: list[str]) -> None:
    told = outcome(CALL_TOOL, tool_call=lambda name, args: answer)
    assert told.startswith("caught: ")
    for fact in facts:
        assert fact in told


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OperationFailed("the disk is full"), "caught: the disk is full"),
        (RuntimeError("disk full"), "caught: disk full"),
        (KeyError(), "caught: KeyError"),
        (RecursionError("deep"), "caught: deep"),
    ],
)
def test_r_025_an_exception_fails_the_task(error: Exception, told: str) -> None:
    def call(name: str, args: Json) -> Any:
        raise error

    assert outcome(CALL_TOOL, tool_call=call) == told
    talk = Conversation(
        '| `Tick -> let* r = Tool.call("t", `Null) in Task.pure(1)', capabilities=Capabilities(tool_call=call)
    )
    with pytest.raises(TaskFailedError):
        talk.tick()
    assert talk.tick(("Other",)).pending is None


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_rolls_back_and_passes(error: type[BaseException]) -> None:
    def call(name: str, args: Json) -> Any:
        raise error

    talk = Conversation(
        '| `Tick -> let* () = Turn.prepend_system("x") in let* r = Tool.call("t", `Null) in Task.pure(1) '
        "| `Go -> Task.pure(2)",
        capabilities=Capabilities(tool_call=call),
    )
    with pytest.raises(error):
        talk.tick()
    assert (talk.state, talk.moderator.overlay.revision) == (0, 0)
    talk.tick(("Go",))
    assert talk.state == 2


@pytest.mark.parametrize(
    ("task", "facts"),
    [
        ('Tool.call("t", `Null)', ["Tool.call", "not configured"]),
        ('Tool.spawn("t", `Null)', ["Tool.spawn", "not configured"]),
        ('Model.call("r", `Null)', ["Model.call", "not configured", '"r"']),
        ('Model.spawn("r", `Null)', ["Model.spawn", "not configured", '"r"']),
        ('Process.run("ls", ["-l"])', ["Process.run", "not configured"]),
        ("Schedule.after_ms(1, `T)", ["Schedule.after_ms", "not configured"]),
        ('Schedule.cancel("t")', ["Schedule.cancel", "not configured"]),
        ('Tool.call("t", `Number(0.0 -. 1.0 *. 1.0))', ["Tool.call"]),
    ],
)
def test_what_is_missing_is_named(task: str, facts: list[str]) -> None:
    told = outcome(
        f'let initial_state = "" let on_event ctx st ev = '
        f'Task.catch((let* r = {task} in Task.pure("went through")), fun m -> Task.pure(m))'
    )
    for fact in facts:
        assert fact in told


def test_a_recipe_without_spawn_and_an_unknown_recipe_are_named() -> None:
    recipe = ModelRecipe(call=lambda payload: ModelOk(payload))
    script = 'let initial_state = "" let on_event ctx st ev = Task.catch(%s, fun m -> Task.pure(m))'
    told = outcome(script % 'Model.spawn("r", `Null)', model_recipes={"r": recipe})
    assert '"r"' in told
    assert "Model.spawn" in told
    told = outcome(script % 'Task.map(Model.call("s", `Null), fun x -> "")', model_recipes={"r": recipe})
    assert '"s" is not registered' in told
    assert '"r"' in told


def test_arguments_that_are_not_json_fail_before_the_host_is_asked() -> None:
    asked = list[Json]()

    def call(name: str, args: Json) -> Any:
        asked.append(args)
        return ToolOk(None)

    script = 'let initial_state = "" let big = 1e1 let on_event ctx st ev = Task.pure("")'
    script = (
        "let rec grow x n = if n == 0 then x else grow(x *. 10.0, n - 1)\n"
        'let initial_state = "" let on_event ctx st ev = Task.catch('
        '(let* r = Tool.call("t", `Number(grow(1.0, 400))) in Task.pure("through")), fun m -> Task.pure(m))'
    )
    assert "Tool.call" in outcome(script, tool_call=call)
    assert asked == []


def test_logs_and_notices_reach_the_host() -> None:
    told = list[Any]()
    talk = Conversation(
        '| `Tick -> let* () = Log.warn("w") in let* () = Ui.notify("n") in Task.fail("no")',
        surface=UI_MODERATOR,
        capabilities=Capabilities(log=lambda level, text: told.append((level, text)), ui_notify=told.append),
    )
    with pytest.raises(TaskFailedError):
        talk.tick()
    assert told == [("warn", "w"), "n"]


def test_the_other_capabilities_get_plain_arguments() -> None:
    asked = list[Any]()

    def after_ms(delay: int, event: Any) -> str:
        asked.append((delay, event))
        return "timer-1"

    def run(command: str, args: Any) -> str:
        asked.append((command, args))
        return "output"

    def spawn(name: str, args: Json) -> str:
        asked.append((name, args))
        return "tool-job-1"

    talk = Conversation(
        "let initial_state = [] let on_event ctx st ev = "
        'let* a = Process.run("git", ["status", "-s"]) in let* b = Schedule.after_ms(5, `T(1)) in '
        'let* () = Schedule.cancel(b) in let* c = Tool.spawn("t", `Bool(true)) in '
        'let* d = Model.spawn("r", `Null) in Task.pure([a, b, c, d])',
        capabilities=Capabilities(
            process_run=run,
            schedule_after_ms=after_ms,
            schedule_cancel=lambda timer: asked.append(timer),
            tool_spawn=spawn,
            model_recipes={"r": ModelRecipe(lambda payload: ModelOk(payload), lambda payload: "model-job-1")},
        ),
    )
    talk.tick()
    assert talk.state == ["output", "timer-1", "tool-job-1", "model-job-1"]
    assert asked == [("git", ["status", "-s"]), (5, ("T", 1)), "timer-1", ("t", True)]


def test_a_bundle_shared_by_sessions_has_one_registry() -> None:
    bundle = Capabilities()
    assert bundle.registry is bundle.registry


# -- async hosts


def test_an_async_capability_is_awaited() -> None:
    async def call(name: str, args: Json) -> ToolOk:
        await asyncio.sleep(0)
        return ToolOk(name)

    talk = Conversation(CALL_TOOL, capabilities=Capabilities(tool_call=call))
    asyncio.run(talk.moderator.ahandle_event(TurnStart(), talk.given))
    assert talk.state == "`Ok(`String(t))"


def test_the_plain_interface_refuses_an_async_capability() -> None:
    async def call(name: str, args: Json) -> ToolOk:
        return ToolOk(name)

    told = outcome(CALL_TOOL, tool_call=call)
    assert "Tool.call" in told
    assert "asynchronous" in told


def test_a_capability_that_never_answers_is_cancelled_by_its_host() -> None:
    async def call(name: str, args: Json) -> ToolOk:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    talk = Conversation(
        '| `Tick -> let* () = Turn.prepend_system("x") in let* r = Tool.call("t", `Null) in Task.pure(1)'
        "| `Turn_start -> Task.pure(5)",
        capabilities=Capabilities(tool_call=call),
    )

    async def main() -> None:

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(talk.moderator.ahandle_event(InternalEvent(TICK), talk.given), 0.05)
        await talk.moderator.ahandle_event(TurnStart(), talk.given)

    asyncio.run(main())
    assert (talk.state, talk.moderator.overlay.revision) == (5, 0)


def test_a_capability_that_calls_back_is_refused() -> None:
    refused = list[Exception]()

    def call(name: str, args: Json) -> ToolOk:
        for action in (
            lambda: talk.tick(),
            lambda: talk.replay(),
            lambda: talk.moderator.resume("x"),
            lambda: talk.moderator.snapshot(),
        ):
            try:
                action()
            except SessionBusyError as error:
                refused.append(error)
        talk.moderator.enqueue(("From_inside",))
        return ToolOk(None)

    talk = Conversation(
        '| `Tick -> let* () = Runtime.emit(`Own) in let* r = Tool.call("t", `Null) in Task.pure(1)',
        capabilities=Capabilities(tool_call=call),
        replay_after_events=False,
    )
    talk.tick()
    assert len(refused) == 4
    assert (talk.state, talk.queue) == (1, ["`Own", "`From_inside"])
