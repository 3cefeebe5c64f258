"""One pipeline of real processes: all stages at once, within their limits, and nothing left when it is over."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

import attrs

from chatml_shell.errors import Refusal
from chatml_shell.plans.grants import Bounds
from chatml_shell.plans.outcome import Capture, Exited, PipelineOutcome, StageOutcome, Status
from chatml_shell.plans.plan import Plan
from chatml_shell.processes.launcher import Ending, Launcher, Supervised
from chatml_shell.processes.pipes import Kept, read, write
from chatml_shell.processes.placeholders import placed

Channel = Literal["stdout", "stderr"]
ExitKind = Literal["timed_out", "idle_timed_out", "output_limit_exceeded", "cancelled"]
LONGEST_POLL = 0.25
KINDS: dict[str, ExitKind] = {
    "timed_out": "timed_out",
    "idle_timed_out": "idle_timed_out",
    "output_limit_exceeded": "output_limit_exceeded",
}
DONE = '"exit-code"'
"""What a wrapper reports when the command did start and has ended."""
Answer = TypeVar("Answer")


class Watch(Protocol):
    """Who hears of a pipeline. Whatever one of these raises ends the pipeline and is raised by it."""

    async def starting(self, plan: Plan) -> None:
        """A plan is about to be verified and started."""

    async def started(self, plan: Plan, pid: int) -> None:
        """Its process runs."""

    async def output(self, plan: Plan, channel: Channel, count: int) -> None:
        """So many bytes were read."""

    async def finished(self, plan: Plan, status: Status) -> None:
        """Its process has ended by itself, and everything that it wrote has been read."""

    async def terminated(self, plan: Plan, exit_kind: ExitKind, facts: Mapping[str, Any]) -> None:
        """The pipeline has come to an abnormal end; told of each plan that was started. What it raises is dropped:
        there is nothing left to end."""


async def run_pipeline(
    launcher: Launcher, plans: Sequence[Plan], stdin: bytes, watch: Watch, *, deadline: float | None, slack: int = 0
) -> PipelineOutcome:
    """Run plans as one pipeline (section 13): the limits are those of the first plan.

    `deadline` is a time of the event loop's clock. Captures keep `slack` bytes beyond their limits, so that a secret
    which a limit would cut in two can still be told. Raises `Refusal`: `executable_changed`, `spawn_error`,
    `timed_out`, `idle_timed_out`, `output_limit_exceeded`. However it ends, all processes are dead and reaped before
    it returns.
    """
    bounds = plans[0].order.bounds
    running = Running(launcher, watch, bounds, slack)
    with placed([path for plan in plans for path in plan.launch.placeholders]):
        try:
            async with asyncio.timeout_at(deadline) as time:
                await running.start(plans, stdin)
                return await running.finish()
        except BaseException as error:
            end = _end(error, bounds, late=time.expired())
            await _to_its_end(running.terminate(end))
            if isinstance(end, Refusal):
                raise end from error
            raise
        finally:
            running.close()


@attrs.define
class Stage:
    """One process: its plan, who supervises it, and the host's ends of its pipes."""

    plan: Plan
    supervised: Supervised
    started: float
    stdout: Kept
    stderr: Kept
    readers: list[asyncio.Task[None]] = attrs.field(factory=list)
    running: bool = False
    over: bool = False


@attrs.define
class Running:
    """A pipeline while it runs."""

    launcher: Launcher
    watch: Watch
    bounds: Bounds
    slack: int
    stages: list[Stage] = attrs.field(factory=list)
    tasks: list[asyncio.Task[Any]] = attrs.field(factory=list)
    descriptors: set[int] = attrs.field(factory=set)
    total: int = 0
    last_byte: float = 0.0

    async def start(self, plans: Sequence[Plan], stdin: bytes) -> None:
        """Start every stage, the first one first; each reads what the one before writes."""
        source = self.feed(stdin)
        for plan in plans:
            await self.watch.starting(plan)
            output, target = self.pipe()
            errors, complaint = self.pipe()
            supervised = await self.launcher.start(plan, (source, target, complaint))
            now = asyncio.get_running_loop().time()
            stage = Stage(plan, supervised, now, self.kept(self.bounds.stdout), self.kept(self.bounds.stderr))
            self.stages.append(stage)
            for descriptor in (source, target, complaint):
                self.let_go(descriptor)
            pid = await supervised.pid()
            stage.running = True
            await self.watch.started(plan, pid)
            stage.readers.append(self.task(self.collect(stage, "stderr", errors)))
            source = output
        self.stages[-1].readers.append(self.task(self.collect(self.stages[-1], "stdout", source)))

    async def finish(self) -> PipelineOutcome:
        """Wait for all stages; the first failure of anything is raised."""
        endings = [self.task(self.end(stage)) for stage in self.stages]
        if self.bounds.idle_time is not None:
            self.task(self.watch_idleness(self.bounds.idle_time))
        waiting: set[asyncio.Task[Any]] = set(endings)
        while waiting:
            done, _ = await asyncio.wait([*self.tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
                self.tasks.remove(task)
            waiting -= done
        await self.give_up()
        return PipelineOutcome(tuple(task.result() for task in endings))

    async def end(self, stage: Stage) -> StageOutcome:
        ending = await stage.supervised.ending()
        stage.over = True
        finished = asyncio.get_running_loop().time()
        await asyncio.gather(*stage.readers)
        _check_report(stage, ending)
        await self.watch.finished(stage.plan, ending.status)
        return StageOutcome(
            status=ending.status,
            stdout=stage.stdout.capture(),
            stderr=_annotated(stage.stderr.capture(), ending),
            started=stage.started,
            finished=finished,
        )

    async def collect(self, stage: Stage, channel: Channel, descriptor: int) -> None:
        """Read a channel to its end, keep the beginning, count everything."""
        os.set_blocking(descriptor, False)
        kept = stage.stdout if channel == "stdout" else stage.stderr
        try:
            while piece := await read(descriptor):
                kept.add(piece)
                self.last_byte = asyncio.get_running_loop().time()
                self.total += len(piece)
                await self.watch.output(stage.plan, channel, len(piece))
                if self.total > self.bounds.total_output:
                    raise Refusal(
                        "output_limit_exceeded",
                        f"the output has more than {self.bounds.total_output} bytes",
                        {"limit_bytes": self.bounds.total_output},
                    )
        finally:
            self.let_go(descriptor)

    async def watch_idleness(self, limit: float) -> None:
        loop = asyncio.get_running_loop()
        self.last_byte = loop.time()
        while loop.time() - self.last_byte <= limit:
            await asyncio.sleep(min(LONGEST_POLL, limit / 4))
        raise Refusal("idle_timed_out", f"nothing was written for {limit:g} s", {"timeout_seconds": limit})

    async def terminate(self, end: Refusal | None) -> None:
        """Stop every stage, wait until all are gone, and tell the watch."""
        await self.give_up()
        for stage in self.stages:
            stage.supervised.stop()
        for stage in self.stages:
            with contextlib.suppress(Refusal):  # a supervisor that has died, or that never started anything
                if not stage.over:
                    await stage.supervised.ending()
        kind = KINDS.get(end.code if end is not None else "", "cancelled")
        for stage in self.stages:
            if stage.running:
                with contextlib.suppress(Exception):
                    await self.watch.terminated(stage.plan, kind, end.facts if end is not None else {})

    async def give_up(self) -> None:
        """End what the host itself still does: waiting, reading, writing."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def close(self) -> None:
        for stage in self.stages:
            stage.supervised.close()
        for descriptor in [*self.descriptors]:
            self.let_go(descriptor)

    def feed(self, stdin: bytes) -> int:
        """The standard input of the first stage."""
        source, into = self.pipe()
        os.set_blocking(into, False)
        self.task(self.write(into, stdin))
        return source

    async def write(self, into: int, stdin: bytes) -> None:
        try:
            await write(into, stdin)
        finally:
            self.let_go(into)

    def pipe(self) -> tuple[int, int]:
        try:
            ends = os.pipe()
        except OSError as error:
            raise Refusal("spawn_error", f"no pipe for the command: {error}") from error
        self.descriptors.update(ends)
        return ends

    def let_go(self, descriptor: int) -> None:
        if descriptor in self.descriptors:
            self.descriptors.remove(descriptor)
            os.close(descriptor)

    def task(self, work: Coroutine[Any, Any, Answer]) -> asyncio.Task[Answer]:
        task = asyncio.create_task(work)
        self.tasks.append(task)
        return task

    def kept(self, limit: int) -> Kept:
        return Kept(limit + self.slack)


def _end(error: BaseException, bounds: Bounds, *, late: bool) -> Refusal | None:
    """What an exception that ended a pipeline means; None when it is to be raised as it is."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, TimeoutError) and late:
        return Refusal(
            "timed_out", f"the request took longer than {bounds.wall_time:g} s", {"timeout_seconds": bounds.wall_time}
        )
    return None


def _check_report(stage: Stage, ending: Ending) -> None:
    """A wrapper that ended without having started the command has refused it: that is not a result of the command."""
    if stage.plan.launch.report is not None and DONE not in ending.report and isinstance(ending.status, Exited):
        why = stage.stderr.capture().data.decode("utf-8", "replace").strip().partition("\n")[0]
        raise Refusal("spawn_error", f"{stage.plan.backend} could not confine the command: {why or ending.status}")


def _annotated(capture: Capture, ending: Ending) -> Capture:
    """The standard error of a command, with what its supervisor has to say."""
    notes = [f"[killed: {ending.excess}]"] if ending.excess else []
    notes += [f"[processes of another user still run: {ending.survivors}]"] if ending.survivors else []
    if not notes:
        return capture
    note = "".join(f"\n{note}\n" for note in notes).encode()
    data = note + capture.data if capture.cut else capture.data + note  # where no limit cuts it off
    return attrs.evolve(capture, data=data, total=capture.total + len(note))


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Do something to its end whatever happens; a cancellation that comes meanwhile is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
