"""A host described as data: it answers from a list, keeps a clock of its own, and starts nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from chatml.border.python import from_json
from chatml.values.model import Value
from chatml_runtime.host.agenda import Agenda
from chatml_runtime.host.jobs import JobKind, completion, job_id
from chatml_runtime.moderation.capabilities import (
    Capabilities,
    ModelError,
    ModelOk,
    ModelRecipe,
    ModelRefused,
    ModelResult,
    ToolCallResult,
    ToolError,
    ToolOk,
)
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.tool_calls import output_of
from chatml_runtime.moderation.vocabulary import ToolCall
from chatml_runtime.scenario.model import Answer, Answers, HostData
from chatml_runtime.script.errors import OperationFailed

MOST_MOMENTS = 10_000


class DataHost:
    """Answers operations from `HostData`. Jobs finish at once, and arrive when time passes, as timers do."""

    def __init__(self, data: HostData, now_ms: int) -> None:
        self.now_ms = now_ms
        self.logs: list[tuple[str, str]] = []
        self.run_process: Callable[[str, Sequence[str]], str] | None = None
        """What carries out `Process.run` in the place of the data, where real processes are wanted."""
        self._data = data
        self._asked: Counter[tuple[str, str]] = Counter()
        self._ids: Counter[str] = Counter()
        self._arrivals: Agenda[Value] = Agenda()
        self._finished: list[tuple[str, Value]] = []
        self.capabilities = Capabilities(
            log=self._log,
            tool_call=self._call_tool,
            tool_spawn=self._spawn_tool,
            model_recipes={name: self._recipe(name) for name in data.models},
            process_run=self._run_process,
            schedule_after_ms=self._after_ms,
            schedule_cancel=self._cancel,
        )

    def advance(self, ms: int) -> Iterator[list[Value]]:
        """Let time pass: the events that arrive at each moment on the way, while the clock shows that moment.

        What finished before arrives first. A timer that is set meanwhile counts, at the next millisecond at the
        earliest; a job that is spawned meanwhile arrives when time passes again, and so does what is due after
        `MOST_MOMENTS`, so that every advance ends.
        """
        end_ms = self.now_ms + ms
        for name, event in self._finished:
            self._arrivals.add(self.now_ms, name, event)
        self._finished = []
        for _ in range(MOST_MOMENTS):
            yield [event for _, event in self._arrivals.due(self.now_ms)]
            next_at = self._arrivals.next_at
            if next_at is None or max(next_at, self.now_ms + 1) > end_ms:
                break
            self.now_ms = max(int(next_at), self.now_ms + 1)
        self.now_ms = end_ms

    def _next_id(self, kind: str) -> str:
        self._ids[kind] += 1
        return f"{kind}-{self._ids[kind]}"

    def _log(self, level: str, message: str) -> None:
        self.logs.append((level, message))

    def _after_ms(self, delay: int, event: Value) -> str:
        timer = self._next_id("timer")
        self._arrivals.add(self.now_ms + delay, timer, event)
        return timer

    def _cancel(self, timer_id: str) -> None:
        if timer_id.startswith("timer-"):
            self._arrivals.remove(timer_id)

    def _answer(self, op: str, group: str, answers: Answers, name: str) -> Answer:
        """The next answer for a name; `OperationFailed` if there is none."""
        listed = answers.get(name)
        if not listed:
            raise OperationFailed(f'{op} is not configured for "{name}": `host.{group}` does not name it')
        position = self._asked[group, name]
        self._asked[group, name] += 1
        return listed[min(position, len(listed) - 1)]

    def _call_tool(self, name: str, args: Json) -> ToolCallResult:
        answer = given(self._answer("Tool.call", "tools", self._data.tools, name))
        return ToolOk(answer.content) if answer.kind == "ok" else ToolError(answer.content)

    def run_tool(self, call: ToolCall) -> Json:
        """The output of a call of the model; an error, as a `Toolbox` gives it, if the tool says no or is not there."""
        try:
            answer = given(self._answer("The call", "tools", self._data.tools, call.name))
        except OperationFailed as failure:
            return output_of(call.name, {"error": str(failure)})
        return output_of(call.name, answer.content if answer.kind == "ok" else {"error": answer.content})

    def _spawn_tool(self, name: str, args: Json) -> str:
        return self._job(JobKind.TOOL, name, self._answer("Tool.spawn", "tools", self._data.tools, name))

    def _recipe(self, name: str) -> ModelRecipe:
        def call(payload: Json) -> ModelResult:
            answer = given(self._answer("Model.call", "models", self._data.models, name))
            return MODEL_RESULTS[answer.kind](answer.content)

        def spawn(payload: Json) -> str:
            return self._job(JobKind.MODEL, name, self._answer("Model.spawn", "models", self._data.models, name))

        return ModelRecipe(call, spawn)

    def _run_process(self, command: str, args: Sequence[str]) -> str:
        if self.run_process is not None:
            return self.run_process(command, args)
        answer = given(self._answer("Process.run", "processes", self._data.processes, command))
        if answer.kind == "error":
            raise OperationFailed(answer.content)
        text: str = answer.content
        return text

    def _job(self, kind: JobKind, name: str, answer: Answer) -> str:
        """A job that has finished already; its completion arrives when time passes (runtime.md 16.1, 16.2)."""
        self._ids[kind.value] += 1
        job = job_id(kind, self._ids[kind.value])
        succeeded = answer.kind == "ok"
        content = from_json(answer.content) if succeeded else answer.content
        self._finished.append((job, completion(kind, job, name, succeeded=succeeded, content=content)))
        return job


MODEL_RESULTS: Mapping[str, Callable[[Json], ModelResult]] = {
    "ok": ModelOk,
    "refused": ModelRefused,
    "error": ModelError,
}


def given(answer: Answer) -> Answer:
    """An answer that is one; `OperationFailed` if the data says that the call fails."""
    if answer.kind == "fail":
        raise OperationFailed(answer.content)
    return answer
