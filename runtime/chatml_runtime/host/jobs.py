"""Jobs that scripts spawn: `Model.spawn` and `Tool.spawn` (runtime.md sections 16.1 and 16.2).

A job runs in the background; its completion is one event for the session that spawned it. The tags of these events
are a stable contract: `Model_job_succeeded`, `Model_job_failed`, `Tool_job_succeeded`, `Tool_job_failed`.
"""

from __future__ import annotations

import enum
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import attrs

from chatml.lazy import lazy
from chatml.values.model import Value
from chatml_runtime.host.post import Letter, Post
from chatml_runtime.host.workers import called
from chatml_runtime.moderation.capabilities import (
    MODEL_ANSWERS,
    TOOL_ANSWERS,
    ModelError,
    ModelRecipe,
    ModelResult,
    ToolCallResult,
    ToolError,
    as_value,
)
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.visits import is_anywhere_inside
from chatml_runtime.script import problems
from chatml_runtime.script.errors import OperationFailed
from chatml_runtime.script.tasks import failure_text

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = lazy("asyncio")

KEPT_STATES = 1000
"""How many jobs that have ended a runner remembers."""

PATIENCE_SECONDS = 5.0
"""How long a closing runner waits for jobs that do not let themselves be cancelled."""


class JobKind(enum.Enum):
    """What a job does; the value begins its events' tags and, in lower case, its ids."""

    MODEL = "Model"
    TOOL = "Tool"

    @property
    def op(self) -> str:
        """The operation that spawns it."""
        return f"{self.value}.spawn"


ANSWERS: Mapping[JobKind, Mapping[type, str]] = {JobKind.MODEL: MODEL_ANSWERS, JobKind.TOOL: TOOL_ANSWERS}
FAILURES: Mapping[JobKind, Callable[[str], ModelResult | ToolCallResult]] = {
    JobKind.MODEL: ModelError,
    JobKind.TOOL: ToolError,
}


class JobState(enum.Enum):
    """How a job stands."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


def job_id(kind: JobKind, number: int) -> str:
    """The id of a job.

    >>> job_id(JobKind.MODEL, 1)
    'model-job-1'
    """
    return f"{kind.value.lower()}-job-{number}"


def completion(kind: JobKind, job: str, name: str, *, succeeded: bool, content: Value) -> Value:
    """The event of a job that has ended: `name` is the recipe or tool, `content` its JSON or why it failed.

    >>> completion(JobKind.TOOL, "tool-job-1", "fetch", succeeded=False, content="no such page")
    ('Tool_job_failed', 'tool-job-1', 'fetch', 'no such page')
    """
    return (f"{kind.value}_job_{'succeeded' if succeeded else 'failed'}", job, name, content)


@attrs.define(eq=False)
class Job:
    """A job and what has become of it. `ended` is done as soon as that is known."""

    id: str
    kind: JobKind
    name: str
    session_id: str
    state: JobState = JobState.RUNNING
    ended: Future[None] = attrs.Factory(Future)
    task: asyncio.Task[None] | None = None
    letter: Letter | None = None


class JobRunner:
    """Runs the jobs of any number of sessions, at most `max_spawned_jobs` at a time; safe to use from any thread.

    A job is running until its result is known, then arriving until its session has it.

    Jobs run in the event loop of the `post`. Without a running loop of its own, a host gives the post one that it owns
    (`BackgroundLoop`).
    """

    def __init__(self, *, max_spawned_jobs: int = 100, post: Post | None = None) -> None:
        self.post = Post() if post is None else post
        self._max_jobs = max_spawned_jobs
        self._running: dict[str, Job] = {}
        self._arriving: dict[str, Job] = {}
        self._ended: dict[str, JobState] = {}
        self._numbers: Counter[JobKind] = Counter()
        self._lock = threading.Lock()
        self._closed = False

    def register(self, session_id: str, moderator: Moderator, on_wakeup: Callable[[], object] | None = None) -> None:
        """Say who a session is: its moderator takes the completions, those kept so far at once (`Post.register`)."""
        self.post.register(session_id, moderator, on_wakeup)

    def unregister_wakeup(self, session_id: str) -> None:
        """Wake a session's host no longer; deliveries go on."""
        self.post.unregister_wakeup(session_id)

    def recipe(self, name: str, call: Callable[[Json], Any], *, session_id: str) -> ModelRecipe:
        """A model that scripts of a session can call, and spawn as a job.

        `call` takes the payload and gives `ModelOk`, `ModelRefused` or `ModelError`; it may be a coroutine function.
        """
        return ModelRecipe(call, lambda payload: self._spawn(JobKind.MODEL, name, session_id, call, payload))

    def tool_spawn(self, call: Callable[[str, Json], Any], *, session_id: str) -> Callable[[str, Json], str]:
        """The capability `tool_spawn` of a session.

        `call` takes a tool's name and arguments and gives `ToolOk` or `ToolError`; it may be a coroutine function.
        """
        return lambda name, args: self._spawn(JobKind.TOOL, name, session_id, call, name, args)

    def open(self, kind: JobKind, name: str, session_id: str) -> str:
        """Begin a job that runs elsewhere, and return its id; `complete` will say how it ended.

        `OperationFailed` if too many are in flight, or the host has closed.
        """
        return self._open(kind, name, session_id).id

    def complete(self, job: str, answer: ModelResult | ToolCallResult) -> bool:
        """Say how a job ended; its event is sent. False, and nothing happens, if it has ended before or is unknown."""
        found = self._running.get(job)
        return found is not None and self._complete(found, answer)

    def state(self, job: str) -> JobState | None:
        """How a job stands; None for an unknown one. The last thousand jobs that have ended are remembered."""
        with self._lock:
            return JobState.RUNNING if job in self._running else self._ended.get(job)

    @property
    def in_flight(self) -> int:
        """How many jobs run."""
        return len(self._running)

    async def wait(self, job: str) -> None:
        """Wait until a job has ended and its event is queued, kept, or refused; at once if the job is not known.

        From inside a handler run, until the job has ended: its event cannot be queued before that run is over.
        """
        with self._lock:
            found = self._running.get(job) or self._arriving.get(job)
        if found is None:
            return
        await done(found.ended)
        if found.letter is not None and not is_anywhere_inside():
            await done(found.letter.handed_over)

    def forget(self, session_id: str) -> None:
        """Cancel the jobs of a session; nothing of them is delivered."""
        with self._lock:
            running = [job for job in self._running.values() if job.session_id == session_id]
            tasks = [self._end(job, JobState.CANCELLED) for job in running]
        cancel(tasks)

    def close(self) -> None:
        """Cancel every job; nothing more is delivered, and no job is begun any more (X-29)."""
        with self._lock:
            self._closed = True
            tasks = [self._end(job, JobState.CANCELLED) for job in list(self._running.values())]
        cancel(tasks)

    async def aclose(self) -> None:
        """`close`, and wait until the jobs have noticed."""
        tasks = [job.task for job in self._running.values() if job.task is not None]
        self.close()
        if tasks:
            await asyncio.wait(tasks, timeout=PATIENCE_SECONDS)

    def _spawn(self, kind: JobKind, name: str, session_id: str, call: Callable[..., Any], *args: Json) -> str:
        loop = self.post.loop
        job = self._open(kind, name, session_id)
        try:
            loop.call_soon_threadsafe(self._start, job, call, args, context=copy_context())
        except RuntimeError:  # the loop is closed
            with self._lock:
                self._end(job, JobState.CANCELLED)
            raise OperationFailed(problems.host_closed(kind.op)) from None
        return job.id

    def _open(self, kind: JobKind, name: str, session_id: str) -> Job:
        with self._lock:
            if self._closed:
                raise OperationFailed(problems.host_closed(kind.op))
            if len(self._running) >= self._max_jobs:
                raise OperationFailed(problems.too_many_jobs(kind.op, self._max_jobs))
            self._numbers[kind] += 1
            job = Job(job_id(kind, self._numbers[kind]), kind, name, session_id)
            self._running[job.id] = job
            return job

    def _start(self, job: Job, call: Callable[..., Any], args: tuple[Json, ...]) -> None:
        with self._lock:
            if job.state is JobState.RUNNING:
                job.task = asyncio.get_running_loop().create_task(self._run(job, call, args))

    async def _run(self, job: Job, call: Callable[..., Any], args: tuple[Json, ...]) -> None:
        try:
            answer = await called(call, *args)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                with self._lock:
                    self._end(job, JobState.CANCELLED)
                raise
            answer = FAILURES[job.kind](failure_text(error))
        except Exception as error:
            answer = FAILURES[job.kind](failure_text(error))
        self._complete(job, answer)

    def _complete(self, job: Job, answer: Any) -> bool:
        try:
            tag, content = as_value(job.kind.op, answer, ANSWERS[job.kind])
        except OperationFailed as failure:
            tag, content = "Error", str(failure)
        succeeded = tag == "Ok"
        with self._lock:
            if job.state is not JobState.RUNNING:
                return False
            job.letter = Letter(
                job.session_id, completion(job.kind, job.id, job.name, succeeded=succeeded, content=content)
            )
            task = self._end(job, JobState.SUCCEEDED if succeeded else JobState.FAILED)
            self._arriving[job.id] = job
        cancel([task])
        job.letter.handed_over.add_done_callback(lambda _: self._arriving.pop(job.id, None))
        self.post.send(job.letter)
        return True

    def _end(self, job: Job, state: JobState) -> asyncio.Task[None] | None:
        """Take note that a job has ended; its task is what may still run of it. The lock is held."""
        if job.state is not JobState.RUNNING:
            return None
        job.state = state
        del self._running[job.id]
        self._ended[job.id] = state
        if len(self._ended) > KEPT_STATES:
            del self._ended[next(iter(self._ended))]
        job.ended.set_result(None)
        return job.task


def cancel(tasks: Iterable[asyncio.Task[None] | None]) -> None:
    """Cancel tasks from any thread. One that says itself that its job has ended is over before this reaches it."""
    for task in tasks:
        if task is not None and not task.done() and not task.get_loop().is_closed():
            task.get_loop().call_soon_threadsafe(task.cancel)


async def done(future: Future[None]) -> None:
    """Wait for a future of any thread, without cancelling it when the waiter is cancelled."""
    await asyncio.shield(asyncio.wrap_future(future))
