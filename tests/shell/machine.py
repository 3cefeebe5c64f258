"""What the tests of real commands share: plans by a few words, a watch that notes what it hears, and who still runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from chatml_shell.plans.command import Command
from chatml_shell.plans.grants import Bounds, Grants
from chatml_shell.plans.outcome import PipelineOutcome, Status
from chatml_shell.plans.plan import Launch, Order, Plan
from chatml_shell.processes.launcher import Launcher
from chatml_shell.processes.pipeline import Channel, ExitKind, run_pipeline
from chatml_shell.resolver.resolve import Resolver

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
BOUNDS = Bounds(
    wall_time=30,
    idle_time=None,
    cpu_time=None,
    max_stdin=1 << 20,
    stdout=1_000_000,
    stderr=1_000_000,
    total_output=1_500_000,
    memory=None,
    file_size=None,
    open_files=None,
)
EVERYTHING = Grants(
    read_roots=("/",),
    write_roots=("/",),
    network=True,
    child_processes=True,
    arbitrary_code=True,
    privilege_change=False,
    sandbox="direct_unsafe",
)
RESOLVER = Resolver({}, ("/usr/bin", "/bin"), ("/usr", "/bin"))


def order(*argv: str, cwd: Path | str = "/", grants: Grants = EVERYTHING, **bounds: Any) -> Order:
    """An order for a command; keywords change the bounds."""
    return Order(
        command=Command(argv[0], argv[1:]),
        executable=RESOLVER.resolve(argv[0], str(cwd)),
        kind="structured",
        cwd=str(cwd),
        environment=ENVIRONMENT,
        grants=grants,
        bounds=attrs.evolve(BOUNDS, **bounds),
    )


def plan(*argv: str, cwd: Path | str = "/", **bounds: Any) -> Plan:
    """A plan that starts a command directly."""
    wanted = order(*argv, cwd=cwd, **bounds)
    program = wanted.executable
    launch = Launch(argv=(program.path, *argv[1:]), program=program, verified=(program,))
    return Plan(plan_id="plan-1", request_id="request-1", order=wanted, launch=launch, backend="direct-unsafe")


def shell(script: str, **bounds: Any) -> Plan:
    """A plan for a line of `sh`."""
    return plan("sh", "-c", script, **bounds)


@attrs.define
class Notes:
    """A watch that writes down what it hears."""

    heard: list[tuple[Any, ...]] = attrs.field(factory=list)
    pids: list[int] = attrs.field(factory=list)

    async def starting(self, plan: Plan) -> None:
        self.heard.append(("starting", plan.plan_id))

    async def started(self, plan: Plan, pid: int) -> None:
        self.heard.append(("started", plan.plan_id))
        self.pids.append(pid)

    async def output(self, plan: Plan, channel: Channel, count: int) -> None:
        self.heard.append(("output", plan.plan_id, channel, count))

    async def finished(self, plan: Plan, status: Status) -> None:
        self.heard.append(("finished", plan.plan_id, status))

    async def terminated(self, plan: Plan, exit_kind: ExitKind, facts: Mapping[str, Any]) -> None:
        self.heard.append(("terminated", plan.plan_id, exit_kind, dict(facts)))


async def run(*plans: Plan, stdin: bytes = b"", watch: Notes | None = None, wall: float | None = 30) -> PipelineOutcome:
    """Run plans as one pipeline through a launcher of their own."""
    async with Launcher() as launcher:
        deadline = None if wall is None else asyncio.get_running_loop().time() + wall
        return await run_pipeline(launcher, plans, stdin, watch or Notes(), deadline=deadline)


def running(mark: str) -> list[int]:
    """The processes that have a text in their command line; tests mark theirs with one of a kind."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found
