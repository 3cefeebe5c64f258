"""Jobs: completion events, once each, in order, none after the end (runtime.md section 16; R-023, R-064, R-065)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from chatml.diagnostics.errors import SessionError
from chatml.values.text import show
from chatml_runtime.host.background import BackgroundLoop
from chatml_runtime.host.jobs import JobKind, JobRunner, JobState
from chatml_runtime.host.post import Post
from chatml_runtime.host.work import AsyncWork
from chatml_runtime.moderation.capabilities import ModelError, ModelOk, ModelRefused, ToolError, ToolOk
from chatml_runtime.moderation.vocabulary import SessionStart, TurnEnd, TurnStart
from chatml_runtime.script.errors import OperationFailed, SessionBusyError, TaskFailedError
from tests.runtime.conversations import Conversation
from tests.runtime.turns.runs import in_loop

KEEP = """
let initial_state = []
let on_event ctx st ev =
  match ev with
  | `Session_start -> let* id = Model.spawn("r", `String("p")) in Task.pure(Array.append(st, [id]))
  | `Turn_end -> let* id = Tool.spawn("t", `Null) in Task.pure(Array.append(st, [id]))
  | `Turn_start -> let* () = Runtime.end_session("over") in Task.pure(st)
  | other -> Task.pure(Array.append(st, [to_string(other)]))
"""


async def payload(given: Any) -> ModelOk:
    return ModelOk({"got": given})


class Host:
    """A session with a job runner, and how often it was woken."""

    def __init__(self, call: Callable[..., Any] = payload, source: str = KEEP, **options: Any) -> None:
        self.work = AsyncWork(**options)
        self.jobs = self.work.jobs
        self.woken = 0
        self.talk = Conversation(source, capabilities=self.work.capabilities("s1", models={"r": call}, tools=call))

    def wake(self) -> None:
        self.woken += 1

    def register(self) -> None:
        self.jobs.register("s1", self.talk.moderator, self.wake)

    async def spawn(self, event: Any = None) -> str:
        """Have the script spawn a job, and give its id."""
        await self.talk.moderator.ahandle_event(event or SessionStart(), self.talk.given)
        return str(self.talk.state[-1])


@pytest.mark.parametrize(
    ("answer", "event"),
    [
        (ModelOk({"n": 1}), "`Model_job_succeeded(model-job-1, r, `Object([|{ key = n; value = `Number(1.) }|]))"),
        (ModelRefused("p"), "`Model_job_failed(model-job-1, r, p)"),
        (ModelError("e"), "`Model_job_failed(model-job-1, r, e)"),
        (OperationFailed("down"), "`Model_job_failed(model-job-1, r, down)"),
        (ValueError(), "`Model_job_failed(model-job-1, r, ValueError)"),
        ("a text", "`Model_job_failed(model-job-1, r, "),
        (ModelOk(object()), "`Model_job_failed(model-job-1, r, "),
    ],
    ids=["ok", "refused", "error", "failure", "exception", "no answer", "no json"],
)
@pytest.mark.parametrize("asynchronous", [True, False], ids=["coroutine", "thread"])
def test_r_064_results_and_their_events(answer: Any, event: str, asynchronous: bool) -> None:
    def plain(given: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def awaited(given: Any) -> Any:
        return plain(given)

    async def main() -> None:
        host = Host(awaited if asynchronous else plain)
        host.register()
        assert await host.spawn() == "model-job-1"
        await host.jobs.wait("model-job-1")
        assert len(host.talk.queue) == 1
        assert host.talk.queue[0].startswith(event)
        assert host.woken == 1
        succeeded = JobState.SUCCEEDED if "succeeded" in event else JobState.FAILED
        assert host.jobs.state("model-job-1") is succeeded

    in_loop(main())


def test_r_064_tool_jobs() -> None:
    async def tool(name: str, args: Any) -> Any:
        return ToolOk(name) if args is None else ToolError("no")

    async def main() -> None:
        host = Host(tool)
        host.register()
        assert await host.spawn(TurnEnd()) == "tool-job-1"
        await host.jobs.wait("tool-job-1")
        assert host.talk.queue == ["`Tool_job_succeeded(tool-job-1, t, `String(t))"]

    in_loop(main())


def test_r_064_once_each_and_in_order_of_completion() -> None:
    """Registering again delivers nothing twice; what was finished before is delivered by the first registration."""
    gates = [asyncio.Event() for _ in range(3)]
    calls = iter(gates)

    async def gated(given: Any) -> ModelOk:
        gate = next(calls)
        await gate.wait()
        return ModelOk(None)

    async def main() -> None:
        host = Host(gated)
        ids = [await host.spawn() for _ in range(3)]
        for index in (2, 0):
            gates[index].set()
            await host.jobs.wait(ids[index])
        assert host.talk.queue == []
        host.register()
        expected = [f"`Model_job_succeeded({ids[index]}, r, `Null)" for index in (2, 0)]
        assert (host.talk.queue, host.woken) == (expected, 2)
        host.register()
        gates[1].set()
        await host.jobs.wait(ids[1])
        assert host.talk.queue == [*expected, f"`Model_job_succeeded({ids[1]}, r, `Null)"]
        assert host.woken == 3

    in_loop(main())


def test_r_064_nothing_after_the_session_has_ended() -> None:
    async def main() -> None:
        gate = asyncio.Event()

        async def gated(given: Any) -> ModelOk:
            await gate.wait()
            return ModelOk(None)

        host = Host(gated)
        host.register()
        job = await host.spawn()
        host.talk.moderator.enqueue(("Left",))
        await host.talk.moderator.ahandle_event(TurnStart(), host.talk.given)
        gate.set()
        await host.jobs.wait(job)
        assert (host.talk.queue, host.woken) == (["`Left"], 0)
        assert host.jobs.state(job) is JobState.SUCCEEDED
        host.register()
        assert host.talk.queue == ["`Left"]

    in_loop(main())


def test_r_064_without_a_wakeup_deliveries_go_on() -> None:
    async def main() -> None:
        host = Host()
        host.register()
        host.jobs.unregister_wakeup("s1")
        await host.jobs.wait(await host.spawn())
        assert (len(host.talk.queue), host.woken) == (1, 0)

    in_loop(main())


def test_r_064_a_wakeup_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        host = Host()
        host.jobs.register("s1", host.talk.moderator, lambda: 1 / 0)
        await host.jobs.wait(await host.spawn())
        assert len(host.talk.queue) == 1

    in_loop(main())
    assert "wakeup of session s1" in caplog.text


def test_r_023_a_job_of_a_run_that_was_rolled_back_reports() -> None:
    source = """| `Session_start -> let* id = Model.spawn("r", `Null) in Task.fail("x")"""

    async def main() -> None:
        host = Host(source=source)
        host.register()
        with pytest.raises(TaskFailedError):
            await host.spawn()
        await host.jobs.wait("model-job-1")
        assert len(host.talk.queue) == 1

    in_loop(main())


def test_r_065_a_limit_of_jobs_in_flight() -> None:
    source = """| `Session_start -> let* s = Task.catch(Model.spawn("r", `Null), fun m -> Task.pure(m)) in
                                     let* () = Runtime.emit(`Got(s)) in Task.pure(st)"""

    async def main() -> None:
        gate = asyncio.Event()

        async def gated(given: Any) -> ModelOk:
            await gate.wait()
            return ModelOk(None)

        host = Host(gated, source, max_spawned_jobs=1)
        moderator = host.talk.moderator
        moderator.drain_limit = None
        for _ in range(2):
            await moderator.ahandle_event(SessionStart(), host.talk.given)
        assert host.talk.queue[0] == "`Got(model-job-1)"
        assert "Model.spawn: exceeded maximum spawned job limit" in host.talk.queue[1]
        assert host.jobs.in_flight == 1
        gate.set()
        await host.jobs.wait("model-job-1")
        await moderator.ahandle_event(SessionStart(), host.talk.given)
        assert host.talk.queue[2] == "`Got(model-job-2)"

    in_loop(main())


def test_a_job_that_completes_at_once_lands_behind_its_run() -> None:
    source = """| `Session_start -> let* id = Model.spawn("r", `Null) in let* () = Runtime.emit(`Own) in
                                     let* slow = Tool.call("t", `Null) in Task.pure(st)"""

    async def slow(*given: Any) -> Any:
        await asyncio.sleep(0.01)
        return ModelOk(None) if len(given) == 1 else ToolOk(None)

    async def main() -> None:
        host = Host(slow, source)
        host.talk.moderator.drain_limit = None
        host.register()
        await host.talk.moderator.ahandle_event(SessionStart(), host.talk.given)
        await host.jobs.wait("model-job-1")
        assert host.talk.queue == ["`Own", "`Model_job_succeeded(model-job-1, r, `Null)"]

    in_loop(main())


def test_a_handler_may_wait_for_a_job() -> None:
    """Its event cannot arrive before the run is over, so waiting from inside ends with the job."""
    source = """| `Session_start -> let* id = Model.spawn("r", `Null) in
                                     let* r = Tool.call("t", `String(id)) in Task.pure(7)"""

    async def main() -> None:
        host = Host(source=source)

        async def tool(name: str, job: Any) -> ToolOk:
            await host.jobs.wait(job)
            return ToolOk(None)

        capabilities = host.work.capabilities("s1", models={"r": payload}, tools=tool)
        host.talk = Conversation(source, capabilities=capabilities)
        host.register()
        await host.talk.moderator.ahandle_event(SessionStart(), host.talk.given)
        assert host.talk.state == 7

    in_loop(main())


# -- completions from elsewhere, and closing


def test_a_completion_that_is_delivered_twice_counts_once() -> None:
    async def main() -> None:
        host = Host()
        host.register()
        job = host.jobs.open(JobKind.TOOL, "t", "s1")
        assert host.jobs.state(job) is JobState.RUNNING
        assert host.jobs.complete(job, ToolOk("first"))
        assert not host.jobs.complete(job, ToolError("second"))
        assert not host.jobs.complete("tool-job-99", ToolOk(None))
        await host.jobs.wait(job)
        assert host.talk.queue == ["`Tool_job_succeeded(tool-job-1, t, `String(first))"]
        assert (host.woken, host.jobs.state(job)) == (1, JobState.SUCCEEDED)

    in_loop(main())


def test_completing_a_job_from_elsewhere_ends_what_runs_of_it() -> None:
    async def main() -> None:
        ended = asyncio.Event()

        async def hangs(given: Any) -> ModelOk:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return ModelOk(None)

        host = Host(hangs)
        host.register()
        job = await host.spawn()
        await asyncio.sleep(0)
        assert host.jobs.complete(job, ModelOk("pushed"))
        await ended.wait()
        await host.jobs.wait(job)
        assert host.talk.queue == ["`Model_job_succeeded(model-job-1, r, `String(pushed))"]

    in_loop(main())


def test_a_job_that_was_completed_from_elsewhere_and_goes_on_counts_once() -> None:
    """It does not let itself be cancelled, and has a result of its own in the end."""

    async def main() -> None:
        release = asyncio.Event()

        async def stubborn(given: Any) -> ModelOk:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return ModelOk("own")

        host = Host(stubborn)
        host.register()
        job = await host.spawn()
        await asyncio.sleep(0)
        assert host.jobs.complete(job, ModelOk("pushed"))
        await asyncio.sleep(0)
        release.set()
        for _ in range(10):
            await asyncio.sleep(0)
        assert host.talk.queue == ["`Model_job_succeeded(model-job-1, r, `String(pushed))"]

    in_loop(main())


def test_a_job_that_completes_after_close_reaches_no_one() -> None:
    """Cancelled, and if it does not let itself be cancelled, unheard (X-29)."""

    async def main() -> None:
        release = asyncio.Event()
        finished = asyncio.Event()

        async def stubborn(given: Any) -> ModelOk:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            finished.set()
            return ModelOk(None)

        host = Host(stubborn)
        host.register()
        job = await host.spawn()
        await asyncio.sleep(0)
        host.work.close()
        assert host.jobs.state(job) is JobState.CANCELLED
        await host.jobs.wait(job)
        release.set()
        await finished.wait()
        await asyncio.sleep(0.01)
        assert (host.talk.queue, host.woken, host.jobs.in_flight) == ([], 0, 0)
        assert not host.jobs.complete(job, ModelOk(None))
        with pytest.raises(TaskFailedError, match=r"Model\.spawn: the host has closed"):
            await host.spawn()

    in_loop(main())


def test_closing_waits_until_jobs_have_noticed() -> None:
    async def main() -> None:
        noticed = []

        async def careful(given: Any) -> ModelOk:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                noticed.append(given)
            return ModelOk(None)

        async with AsyncWork() as work:
            capabilities = work.capabilities("s1", models={"r": careful})
            talk = Conversation(KEEP, capabilities=capabilities)
            await talk.moderator.ahandle_event(SessionStart(), talk.given)
            await asyncio.sleep(0)
        assert noticed == ["p"]

    in_loop(main())


def test_forgetting_a_session_cancels_its_jobs_only() -> None:
    async def main() -> None:
        work = AsyncWork()
        one, two = work.jobs.open(JobKind.TOOL, "t", "one"), work.jobs.open(JobKind.TOOL, "t", "two")
        work.forget("one")
        assert (work.jobs.state(one), work.jobs.state(two)) == (JobState.CANCELLED, JobState.RUNNING)
        await work.jobs.wait(one)

    in_loop(main())


def test_ended_jobs_are_not_kept_for_ever() -> None:
    async def main() -> None:
        runner = JobRunner()
        ids = [runner.open(JobKind.MODEL, "r", "nobody") for _ in range(3)]
        assert runner.complete(ids[0], ModelOk(None))
        for _ in range(1000):
            runner.complete(runner.open(JobKind.MODEL, "r", "nobody"), ModelOk(None))
        assert (runner.state(ids[0]), runner.state(ids[1]), runner.in_flight) == (None, JobState.RUNNING, 2)
        await runner.wait(ids[0])  # has ended long ago

    in_loop(main())


def test_a_cancellation_inside_a_job_is_a_failure() -> None:
    async def cancels(given: Any) -> ModelOk:
        raise asyncio.CancelledError

    async def main() -> None:
        host = Host(cancels)
        host.register()
        await host.jobs.wait(await host.spawn())
        assert host.talk.queue == ["`Model_job_failed(model-job-1, r, CancelledError)"]

    in_loop(main())


# -- plain hosts


def test_a_plain_host_with_a_loop_of_its_own() -> None:
    arrived = threading.Event()
    with BackgroundLoop() as background, AsyncWork(loop=background.loop) as work:
        talk = Conversation(KEEP, capabilities=work.capabilities("s1", models={"r": payload}))
        work.register("s1", talk.moderator, arrived.set)
        talk.send(SessionStart())
        assert arrived.wait(30)
        talk.replay()
        assert [show(line) if not isinstance(line, str) else line for line in talk.state] == [
            "model-job-1",
            "`Model_job_succeeded(model-job-1, r, `Object([|{ key = got; value = `String(p) }|]))",
        ]
    assert background.loop.is_closed()


def test_a_plain_host_without_a_loop_is_told() -> None:
    talk = Conversation(KEEP, capabilities=AsyncWork().capabilities("s1", models={"r": payload}))
    with pytest.raises(TaskFailedError, match="BackgroundLoop"):
        talk.send(SessionStart())


def test_a_closed_loop_refuses_jobs() -> None:
    background = BackgroundLoop()
    background.close()
    background.close()
    work = AsyncWork(loop=background.loop)
    talk = Conversation(KEEP, capabilities=work.capabilities("s1", models={"r": payload}))
    with pytest.raises(TaskFailedError, match="the host has closed"):
        talk.send(SessionStart())
    assert work.jobs.in_flight == 0
    work.register("s1", talk.moderator)
    assert work.jobs.complete(work.jobs.open(JobKind.TOOL, "t", "s1"), ToolOk(None))
    assert talk.queue == []
    with pytest.raises(SessionError, match="closed"):
        background.run(asyncio.sleep(0))


def test_a_background_loop_does_not_wait_for_itself() -> None:
    with BackgroundLoop() as background:

        async def inside() -> None:
            background.run(asyncio.sleep(0))

        with pytest.raises(SessionBusyError):
            background.run(inside())
        with pytest.raises(TimeoutError):
            background.run(asyncio.sleep(60), timeout_s=0.001)


def test_many_threads_complete_jobs_once_each() -> None:
    """Whoever comes first counts; the session sees every job once."""
    with BackgroundLoop() as background, AsyncWork(loop=background.loop, max_spawned_jobs=200) as work:
        talk = Conversation("| `Never -> Task.pure(st)", capabilities=work.capabilities("s1"))
        work.register("s1", talk.moderator)
        ids = [work.jobs.open(JobKind.TOOL, "t", "s1") for _ in range(200)]
        counted: list[bool] = []

        def complete_all() -> None:
            counted.extend(work.jobs.complete(job, ToolOk(None)) for job in ids)

        threads = [threading.Thread(target=complete_all) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for job in ids:
            background.run(work.jobs.wait(job), timeout_s=30)
        assert counted.count(True) == 200
        assert len(set(talk.queue)) == len(talk.queue) == 200


def test_a_post_serves_sessions_apart() -> None:
    async def main() -> None:
        post = Post()
        runner = JobRunner(post=post)
        talks = {name: Conversation("| `Never -> Task.pure(st)") for name in ("one", "two")}
        for name, talk in talks.items():
            runner.register(name, talk.moderator)
        jobs = [runner.open(JobKind.TOOL, name, name) for name in ("one", "two", "two")]
        for job in jobs:
            runner.complete(job, ToolOk(None))
            await runner.wait(job)
        assert [len(talk.queue) for talk in talks.values()] == [1, 2]

    in_loop(main())
