"""Registries of the tests: opened on a document, called, closed; and how many processes that started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pytest

from chatmd.sources.paths import HostPaths
from chatml_shell.audit.events import Event
from chatml_shell.audit.recorder import Recorder
from chatml_shell.authority.authoriser import Authoriser, once
from chatml_shell.backends.fake import Answer, Fake
from chatml_shell.instantiate.host import Host
from chatml_shell.output.redact import Redactor
from chatml_shell.plans.outcome import Exited
from chatml_shell.plans.plan import Plan
from chatml_shell.processes.launcher import Launcher
from chatml_shell.registry.opening import open_registry
from chatml_shell.registry.registry import CallOutcome, Registry
from tests.shell.prompts import manifest

T = TypeVar("T")


def host(directory: Path | str = "/", **options: Any) -> Host:
    """A host whose directories are all one, with few variables."""
    place = str(directory)
    names = ("workspace", "prompt_dir", "tool_dir", "session_dir", "cache_dir", "home")
    paths = HostPaths(**dict.fromkeys(names, place))
    return Host(
        **{"paths": paths, "environment": {"PATH": "/usr/bin:/bin", "HOME": place}, "session_id": "s", **options}
    )


def running(
    text: str,
    work: Callable[[Registry], Awaitable[T]],
    directory: Path | str = "/",
    authoriser: Authoriser = once,
    **options: Any,
) -> T:
    """What some work with a registry of a document gives."""

    async def main() -> T:
        async with open_registry(
            manifest(text, directory), host=host(directory, **options), authoriser=authoriser
        ) as registry:
            return await work(registry)

    return asyncio.run(main())


def called(text: str, *calls: dict[str, Any], directory: Path | str = "/", **options: Any) -> list[CallOutcome]:
    """What comes of calls of the tool `t`, one after another."""

    async def work(registry: Registry) -> list[CallOutcome]:
        return [await registry.run("t", json.dumps(arguments)) for arguments in calls]

    return running(text, work, directory, **options)


def code(text: str, *calls: dict[str, Any], **options: Any) -> str | None:
    """The code of the last of some calls."""
    return called(text, *calls, **options)[-1].code


def output(text: str, *calls: dict[str, Any], **options: Any) -> str:
    """The output of the last of some calls."""
    return called(text, *calls, **options)[-1].output


def last_argument(plan: Plan, stdin: bytes) -> Answer:
    """A program of tests: `false` fails, the others print their last word, or their input when they have none."""
    if plan.order.command.program == "false":
        return Exited(1), b"", b""
    words = plan.order.command.arguments
    return Exited(0), words[-1].encode() if words else stdin, b""


def fake(
    answer: Callable[[Plan, bytes], Any] = last_argument, name: str = "fake", eligible: bool = False
) -> list[Fake]:
    """A backend of tests in the place of the declared ones."""
    return [Fake(answer, name, eligible)]


@attrs.define
class Spawns:
    """How many processes registries have started for commands."""

    count: int = 0


@pytest.fixture(name="spawns")
def counted(monkeypatch: pytest.MonkeyPatch) -> Spawns:
    """Counts every start of a process by a registry: each goes through its launcher."""
    spawns = Spawns()
    start = Launcher.start

    async def counting(self: Launcher, *args: Any, **options: Any) -> Any:
        spawns.count += 1
        return await start(self, *args, **options)

    monkeypatch.setattr(Launcher, "start", counting)
    return spawns


@pytest.fixture(name="events")
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """The events of all runtimes, whatever their audits keep."""
    events: list[Event] = []
    record = Recorder.record

    async def recording(self: Recorder, event: Event, redactor: Redactor) -> None:
        events.append(event)
        await record(self, event, redactor)

    monkeypatch.setattr(Recorder, "record", recording)
    return events


def names(events: Sequence[Event]) -> list[str]:
    """The names of events."""
    return [event.name for event in events]


@contextlib.asynccontextmanager
async def opened(text: str, directory: Path | str = "/", **options: Any) -> AsyncIterator[Registry]:
    """A registry of a document."""
    async with open_registry(manifest(text, directory), host=host(directory, **options), authoriser=once) as registry:
        yield registry


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """A program."""
    path.write_text(text)
    os.chmod(path, 0o755)
    return path
