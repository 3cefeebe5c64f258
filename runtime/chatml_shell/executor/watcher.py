"""What the audit hears of processes while they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chatml_shell.executor.job import Job
from chatml_shell.executor.prepare import Planned
from chatml_shell.executor.script_file import check_text
from chatml_shell.plans.outcome import Exited, Status
from chatml_shell.plans.plan import Plan
from chatml_shell.processes.pipeline import Channel, ExitKind


def exit_facts(status: Status) -> dict[str, Any]:
    """How a command ended, as records say it.

    >>> exit_facts(Exited(0))
    {'exit_kind': 'exited', 'exit_code': 0}
    """
    if isinstance(status, Exited):
        return {"exit_kind": "exited", "exit_code": status.code}
    return {"exit_kind": "signaled", "signal": status.signal}


class Watcher:
    """Records what happens to the plans of a pipeline, and looks at a script once more before it starts."""

    def __init__(self, job: Job, stages: Sequence[Planned]) -> None:
        self.job = job
        self.stages = {stage.plan.plan_id: stage for stage in stages}

    async def starting(self, plan: Plan) -> None:
        """The last look before the start; `Refusal` (`script_changed`) ends it."""
        script = self.stages[plan.plan_id].subject.script
        if script is not None:
            check_text(script)

    async def started(self, plan: Plan, pid: int | None) -> None:
        """A process runs; a simulated one has no id."""
        await self._record(plan, "started", {"backend": plan.backend, "pid": pid})

    async def output(self, plan: Plan, channel: Channel, count: int) -> None:
        """Bytes were read."""
        await self._record(plan, "output", {"channel": channel, "bytes": count})

    async def finished(self, plan: Plan, status: Status) -> None:
        """A process has ended."""
        await self._record(plan, "finished", exit_facts(status))

    async def terminated(self, plan: Plan, exit_kind: ExitKind, facts: Mapping[str, Any]) -> None:
        """A process was ended."""
        known = {name: facts[name] for name in ("timeout_seconds", "limit_bytes") if name in facts}
        await self._record(plan, "terminated", {"exit_kind": exit_kind, **known})

    async def _record(self, plan: Plan, name: Any, facts: Mapping[str, Any]) -> None:
        await self.job.record(self.stages[plan.plan_id].subject, name, facts, plan.plan_id)
