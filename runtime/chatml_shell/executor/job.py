"""A job: one request in one runtime, with what its steps share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import attrs

from chatml_shell.audit.events import Event, EventName
from chatml_shell.effects.effect import kinds
from chatml_shell.live.runtime import LiveRuntime
from chatml_shell.output.redact import Redactor
from chatml_shell.plans.request import Request
from chatml_shell.policy.subject import Subject
from chatml_shell.processes.launcher import Launcher


@attrs.frozen(kw_only=True, eq=False)
class Job:
    """A request that is being carried out. `deadline` is a time of the event loop's clock; `redactor` also knows the
    request's own secrets."""

    runtime: LiveRuntime
    request: Request
    request_id: str
    launcher: Launcher
    redactor: Redactor
    deadline: float

    def in_time(self) -> asyncio.Timeout:
        """A context that ends with `TimeoutError` when the request's time is over."""
        return asyncio.timeout_at(self.deadline)

    async def record(
        self, subject: Subject, name: EventName, facts: Mapping[str, Any] | None = None, plan_id: str | None = None
    ) -> None:
        """Record an event about a command. Raises `Refusal` (`audit_unavailable`) where the audit says so."""
        event = Event(
            name=name,
            session_id=self.runtime.session_id,
            runtime_id=self.runtime.id,
            manifest_sha256=self.runtime.manifest_sha256,
            request_id=self.request_id,
            plan_id=plan_id,
            request_kind=subject.kind,
            argv=subject.command.argv,
            cwd=subject.cwd,
            effects=kinds(subject.effects),
            facts=facts or {},
        )
        await self.runtime.recorder.record(event, self.redactor)
