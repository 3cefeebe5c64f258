"""A host that plays a whole conversation by script."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from chatml.surfaces.model import Surface
from chatml.surfaces.ui import UI_MODERATOR
from chatml.syntax.decode import decode
from chatml.values.model import Value
from chatml_runtime.host.clocks import ManualClock
from chatml_runtime.host.controller import Controller
from chatml_runtime.host.hosts import Compact
from chatml_runtime.host.jobs import JobKind
from chatml_runtime.host.policy import DEFAULT_POLICY, RuntimePolicy
from chatml_runtime.host.tools import Tool, Toolbox, ToolFunction
from chatml_runtime.host.work import AsyncWork
from chatml_runtime.moderation.capabilities import ModelError, ModelOk, ModelRecipe, ModelRefused, ModelResult
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry, Json
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.results import RunRecord
from chatml_runtime.moderation.tool_calls import OUTPUTS
from chatml_runtime.moderation.vocabulary import ToolDesc
from chatml_runtime.script.approvals import PendingRequest
from chatml_runtime.script.scripts import ScriptArtifact, compile_script
from chatml_runtime.script.tasks import failure_text
from chatml_runtime.testing.model import Response, ScriptedModel
from chatml_runtime.testing.view import RecordingView, ScriptedAnswers

MAX_STEPS = 1000
"""How often a scripted host looks for work before it gives up on a script that always makes more."""

Answering: TypeAlias = "ModelResult | Exception | Json | Callable[[Json], ModelResult]"
"""What a recipe gives: a result, an exception, data for `ModelOk`, or a function of the payload that gives a result."""


class ScriptedHost:
    """A conversation under a policy, played by script. Use it in a `with` block, or `close` it.

    What goes wrong in `start`, `send` or `advance` is raised there, after everything has settled; the history is
    consistent then, too, and `errors` has all of it.
    """

    def __init__(
        self,
        script: str | Path | ScriptArtifact,
        *,
        model: Iterable[Response] = (),
        tools: Mapping[str, ToolFunction] | None = None,
        models: Mapping[str, Answering] | None = None,
        answers: Iterable[str] = (),
        history: Sequence[Json] = (),
        policy: RuntimePolicy = DEFAULT_POLICY,
        session_id: str = "session",
        session_meta: Json = None,
        now_ms: int = 0,
        surface: Surface = UI_MODERATOR,
        compact: Compact | None = None,
    ) -> None:
        """Starts nothing yet; `start`, `send` or `advance` does.

        `script` is the text of a policy, its file, or an artifact, for which `surface` does not count. `model` is what
        the model says, a response per request. `tools` are functions of the arguments; scripts reach them, too.
        `models` are the recipes of scripts; a job that a script spawns is finished at once, and arrives when time
        passes. `answers` are a person's; when they are used up, a question that has a time waits for `answer`.
        """
        if not isinstance(script, ScriptArtifact):
            source = script if isinstance(script, str) else decode(str(script), script.read_bytes())
            script = ScriptArtifact("main", compile_script(source, name="policy.chatml", surface=surface))
        self.model = ScriptedModel(model)
        self.view = RecordingView()
        self.records: list[RunRecord] = []
        self.calls: list[tuple[str, Json]] = []
        self.logs: list[tuple[str, str]] = []
        self._session_id = session_id
        self._finished: deque[tuple[str, Callable[[], ModelResult]]] = deque()
        self._runner = asyncio.Runner()
        self._clock = ManualClock(now_ms)
        self._answers = ScriptedAnswers(answers, self.view, self._clock.now_ms)
        self._settling: asyncio.Task[None] | None = None
        self._work = AsyncWork(loop=self._runner.get_loop(), clock=self._clock)
        toolbox = Toolbox(Tool(ToolDesc(name), self._recorded(name, tool)) for name, tool in (tools or {}).items())
        allocator = EntryIdAllocator(session_id)
        capabilities = self._work.capabilities(
            session_id, tools=toolbox.capability, log=lambda level, message: self.logs.append((level, message))
        )
        recipes = {name: self._recipe(name, answering) for name, answering in (models or {}).items()}
        self.moderator = Moderator.create(
            script,
            allocator=allocator,
            capabilities=attrs.evolve(capabilities, model_recipes=recipes),
            observer=self.records.append,
        )
        self.controller = Controller(
            self.moderator,
            session_id=session_id,
            session_meta=session_meta,
            history=[HistoryEntry(allocator.allocate(), item) for item in history],
            allocator=allocator,
            model=self.model,
            tools=toolbox.descriptions,
            run_tool=toolbox,
            view=self.view,
            policy=policy,
            approval=self._answers,
            work=self._work,
            compact=compact,
            clock_ms=lambda: int(self._clock.now_ms()),
        )

    def __enter__(self) -> ScriptedHost:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What happens

    def start(self) -> None:
        """Deliver the start of the session, and do what follows from it."""
        self._settle()

    def send(self, text: str) -> None:
        """Have the user say something, and do what follows from it."""
        self.controller.submit(text)
        self._settle()

    def steer(self, text: str) -> None:
        """Have the user say something while the model answers; to be called by a response or a tool."""
        self.controller.submit(text)

    def answer(self, text: str, *, by: str = "") -> None:
        """Answer the question that is open, and do what follows from it. `NotSuspendedError` if none is."""
        self._answers.give(text, by)
        self._settle()

    def advance(self, ms: int = 0) -> None:
        """Let time pass: jobs spawned before arrive, then timers as they become due; an open question expires.

        A timer that is set meanwhile counts, too, at the next millisecond at the earliest.
        """
        target = self._clock.now_ms() + ms
        for _ in range(len(self._finished)):
            job, answer = self._finished.popleft()
            self._work.jobs.complete(job, answer())
        self._settle()
        earliest = self._clock.now_ms()
        while (moment := self._next_moment()) is not None and max(moment, earliest) <= target:
            self._clock.advance(max(moment, earliest) - self._clock.now_ms())
            self._settle()
            if self._answers.is_open and self._answers.expires_ms <= self._clock.now_ms():
                self._answers.expire()
                self._settle()
            earliest = self._clock.now_ms() + 1
        self._clock.advance(target - self._clock.now_ms())

    def _next_moment(self) -> float | None:
        """When a timer is due or the open question expires, whichever is first."""
        ring = self._clock.next_ring_ms
        if not self._answers.is_open:
            return ring
        return self._answers.expires_ms if ring is None else min(ring, self._answers.expires_ms)

    def close(self) -> None:
        """Drop jobs and timers, and end the event loop."""
        self._work.close()
        self._runner.close()

    # What came of it

    @property
    def history(self) -> tuple[Json, ...]:
        """The provider items of the canonical history."""
        return tuple(entry.item for entry in self.controller.history)

    @property
    def effective_history(self) -> tuple[Json, ...]:
        """The provider items of the history as the model sees it."""
        return tuple(entry.item for entry in self.moderator.effective_history(self.controller.history))

    @property
    def texts(self) -> list[str]:
        """What the assistant has said."""
        said = [item for item in self.history if item.get("role") == "assistant"]
        return ["".join(part.get("text", "") for part in item["content"]) for item in said]

    @property
    def outputs(self) -> list[Json]:
        """The outputs of all tool calls."""
        return [item["output"] for item in self.history if item["type"] in OUTPUTS.values()]

    @property
    def phases(self) -> list[str]:
        """The phases of all handler runs, in order."""
        return [record.phase.value for record in self.records]

    @property
    def state(self) -> Value:
        """The script's state."""
        return self.moderator.state

    @property
    def end_reason(self) -> str | None:
        """Why the session has ended, or None."""
        return self.moderator.end_reason

    @property
    def notices(self) -> list[str]:
        """What the person was told."""
        return self.view.notices

    @property
    def errors(self) -> list[Exception]:
        """What has gone wrong."""
        return self.view.errors

    @property
    def questions(self) -> list[PendingRequest]:
        """What the person was asked, each time."""
        return self.view.questions

    def _settle(self) -> None:
        before = len(self.errors)
        self._runner.run(self._settled_or_asked())
        if len(self.errors) > before:
            raise self.errors[before]

    async def _settled_or_asked(self) -> None:
        """Go on until nothing is to be done, or a question waits; what is under way then goes on after its answer."""
        settling = self._settling or asyncio.ensure_future(self._settled())
        asked = asyncio.ensure_future(self._answers.asked.wait())
        await asyncio.wait({settling, asked}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        self._settling = None if settling.done() else settling
        if settling.done():
            settling.result()
            return
        while self._work.post.is_busy:
            await asyncio.sleep(0)

    async def _settled(self) -> None:
        """Let the controller and the post go on until neither has anything to do."""
        for _ in range(MAX_STEPS):
            await self.controller.settle()
            if not self._work.post.is_busy and not self.controller.has_work:
                return
            while self._work.post.is_busy:
                await asyncio.sleep(0)
        raise RuntimeError(f"the script still makes work for itself after {MAX_STEPS} drains of its queue")

    def _recorded(self, name: str, tool: ToolFunction) -> ToolFunction:
        """A tool that runs in the event loop, so that every run of a test is the same, and is noted in `calls`."""

        async def run(args: Json) -> Any:
            self.calls.append((name, args))
            answer = tool(args)
            return await answer if inspect.isawaitable(answer) else answer

        return run

    def _recipe(self, name: str, answering: Answering) -> ModelRecipe:
        def answer(payload: Json) -> ModelResult:
            result = answering(payload) if callable(answering) else answering
            if isinstance(result, Exception):
                raise result
            return result if isinstance(result, (ModelOk, ModelRefused, ModelError)) else ModelOk(result)

        def spawn(payload: Json) -> str:
            job = self._work.jobs.open(JobKind.MODEL, name, self._session_id)
            self._finished.append((job, partial(finished, answer, payload)))
            return job

        return ModelRecipe(answer, spawn)


def finished(answer: Callable[[Json], ModelResult], payload: Json) -> ModelResult:
    """What came of a job; an exception is an error."""
    try:
        return answer(payload)
    except Exception as error:
        return ModelError(failure_text(error))
