"""All asynchronous work of a host in one place: jobs, timers, and the way of their events (runtime.md section 16)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from chatml_runtime.host.clocks import Clock
from chatml_runtime.host.jobs import JobRunner
from chatml_runtime.host.post import Post
from chatml_runtime.host.scheduler import Scheduler
from chatml_runtime.moderation.capabilities import Capabilities
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.moderator import Moderator


class AsyncWork:
    """Jobs and timers of any number of sessions, to be closed by the host that owns it (X-29).

    >>> from chatml_runtime import BackgroundLoop, ModelOk
    >>> with BackgroundLoop() as background, AsyncWork(loop=background.loop) as work:
    ...     capabilities = work.capabilities("s1", models={"echo": ModelOk})
    ...     job = capabilities.model_recipes["echo"].spawn("hello")
    ...     background.run(work.jobs.wait(job))
    ...     work.jobs.state(job).value
    'succeeded'
    """

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        max_spawned_jobs: int = 100,
        max_timers: int = 10_000,
        clock: Clock | None = None,
    ) -> None:
        """`loop` runs the jobs and timers: a `BackgroundLoop`'s, or None for the one in which they are started."""
        self.post = Post(loop)
        self.jobs = JobRunner(max_spawned_jobs=max_spawned_jobs, post=self.post)
        self.timers = Scheduler(post=self.post, clock=clock, max_timers=max_timers)

    def __enter__(self) -> AsyncWork:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> AsyncWork:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def capabilities(
        self,
        session_id: str,
        *,
        models: Mapping[str, Callable[[Json], Any]] | None = None,
        tools: Callable[[str, Json], Any] | None = None,
        **others: Any,
    ) -> Capabilities:
        """What a session's script can reach: models and tools, called or as jobs, timers, and `others` as they are.

        `models` are functions of a payload by the name of their recipe, giving `ModelOk`, `ModelRefused` or
        `ModelError`; `tools` is a function of a tool's name and arguments giving `ToolOk` or `ToolError`, such as
        `Toolbox.capability`. Each may be a coroutine function. `others` are fields of `Capabilities`.
        """
        return Capabilities(
            tool_call=tools,
            tool_spawn=None if tools is None else self.jobs.tool_spawn(tools, session_id=session_id),
            model_recipes={
                name: self.jobs.recipe(name, call, session_id=session_id) for name, call in (models or {}).items()
            },
            schedule_after_ms=partial(self.timers.after_ms, session_id),
            schedule_cancel=partial(self.timers.cancel, session_id=session_id),
            **others,
        )

    def register(self, session_id: str, moderator: Moderator, on_wakeup: Callable[[], object] | None = None) -> None:
        """Say which moderator takes the events of a session, and how to wake its host (`Post.register`)."""
        self.post.register(session_id, moderator, on_wakeup)

    def forget(self, session_id: str) -> None:
        """Drop a session: its jobs and timers are cancelled, and nothing is delivered to it any more."""
        self.post.forget(session_id)
        self.timers.forget(session_id)
        self.jobs.forget(session_id)

    def close(self) -> None:
        """Cancel all jobs and timers. What had not completed is delivered to no one; nothing new is begun."""
        self.post.close()
        self.timers.close()
        self.jobs.close()

    async def aclose(self) -> None:
        """`close`, and wait until the jobs have noticed."""
        self.post.close()
        self.timers.close()
        await self.jobs.aclose()
