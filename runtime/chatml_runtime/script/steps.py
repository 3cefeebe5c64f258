"""Running a step, and running it again: what a step that waits for a person is, as data (live.md section D.1).

What comes in: a `ParkedStep`, and a function that delivers its message to a fresh moderator under a `Recording`. What
goes out: the result of that function, to be committed, or the step as it waits now, to be stored. If a run diverges
from its record, the step runs once more from an empty one; what was carried out keeps its answer. The second time it
fails.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import attrs

from chatml.values.model import Value
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import Answered, Response, question_data, read_question, response_data
from chatml_runtime.script.errors import (
    NotSuspendedError,
    OperationFailed,
    ReplayDivergedError,
    SnapshotFormatError,
)
from chatml_runtime.script.recording import (
    Diverged,
    Parked,
    Question,
    Recorded,
    Recorder,
    Recording,
    Retry,
    careful,
)

FORMAT, VERSION = "chatml-parked-step", 1

Result = TypeVar("Result")


@attrs.frozen
class ParkedStep:
    """A step before it has committed: what it was given, what is recorded, and what it asks, if it waits.

    `message` is the host's own, as JSON data: what the step delivers; the snapshot from before it lies beside it.
    `prefix` is `session/step`; a question is known by it and its number. `generation` counts from 1 and is 2 once the
    step has diverged: then a question that was asked before is superseded, and `kept` are the operations that were
    carried out then and have not come up again.
    """

    prefix: str
    message: Any = None
    now_ms: int = 0
    recorded: tuple[Recorded, ...] = ()
    question: Question | None = None
    generation: int = 1
    kept: tuple[Recorded, ...] = ()

    @property
    def question_id(self) -> str | None:
        """The identity of the open question: `session/step/n`."""
        return None if self.question is None else f"{self.prefix}/{self.question.n}"

    def answered(self, response: Response) -> ParkedStep:
        """The step with an answer to its question, to be run again; `self` still waits.

        `NotSuspendedError` if it does not wait; `ApprovalResponseError` if the question does not take this answer.
        """
        question = self.question
        if question is None:
            raise NotSuspendedError(problems.NOT_SUSPENDED)
        with suppress(OperationFailed):  # nobody has answered, and the script has no word for that: its task will fail
            question.request.accept(response)
        given = Answered(response) if isinstance(response, str) else response
        answer = Recorded(
            question.n, question.request.op, question.digest, f"{self.prefix}/{question.n}", True, response_data(given)
        )
        return attrs.evolve(self, recorded=(*self.recorded, answer), question=None)

    def to_json(self) -> Any:
        """The step as plain data, for `json.dumps`."""
        question = self.question
        return {
            "format": FORMAT,
            "version": VERSION,
            "prefix": self.prefix,
            "message": self.message,
            "now_ms": self.now_ms,
            "recorded": [recorded.to_json() for recorded in self.recorded],
            "asked": None
            if question is None
            else {"n": question.n, "digest": question.digest, **question_data(question.request)},
            "generation": self.generation,
            "kept": [kept.to_json() for kept in self.kept],
        }

    @classmethod
    def from_json(cls, data: Any) -> ParkedStep:
        """What `to_json` gave; `SnapshotFormatError` if it is something else."""
        try:
            if (data["format"], data["version"]) != (FORMAT, VERSION):
                raise SnapshotFormatError(f"expected {FORMAT} {VERSION}, got {data['format']} {data['version']}")
            asked = data["asked"]
            return cls(
                data["prefix"],
                data["message"],
                data["now_ms"],
                tuple(Recorded.from_json(recorded) for recorded in data["recorded"]),
                None if asked is None else Question(asked["n"], asked["digest"], read_question(asked)),
                data["generation"],
                tuple(Recorded.from_json(kept) for kept in data["kept"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise SnapshotFormatError(f"the parked step is damaged: {error!r}") from None


def run_step(
    step: ParkedStep,
    act: Callable[[Recording], Result],
    *,
    recorder: Recorder | None = None,
    retry: Callable[[str, Sequence[Value]], Retry] = careful,
) -> Result | ParkedStep:
    """Run a step: what `act` gives, to be committed, or the step as it waits, to be stored.

    `act` makes a moderator of the snapshot from before the step, with `recording.operations` as its `extra_ops`, and
    delivers the message under a driver whose `approval` is the recording. It may run twice, so it must keep nothing of
    a run that does not return. `ReplayDivergedError` if the step has diverged from its record for the second time.
    """
    while True:
        recording = recording_of(step, recorder, retry)
        try:
            result = act(recording)
            recording.finish()
        except Parked as parked:
            return waiting(step, recording, parked)
        except Diverged as diverged:
            step = again(step, recording, diverged)
        else:
            return result


async def arun_step(
    step: ParkedStep,
    act: Callable[[Recording], Awaitable[Result]],
    *,
    recorder: Recorder | None = None,
    retry: Callable[[str, Sequence[Value]], Retry] = careful,
) -> Result | ParkedStep:
    """`run_step` of a coroutine function."""
    while True:
        recording = recording_of(step, recorder, retry)
        try:
            result = await act(recording)
            recording.finish()
        except Parked as parked:
            return waiting(step, recording, parked)
        except Diverged as diverged:
            step = again(step, recording, diverged)
        else:
            return result


def recording_of(
    step: ParkedStep, recorder: Recorder | None, retry: Callable[[str, Sequence[Value]], Retry]
) -> Recording:
    """The recording under which a step runs. Keys of a second generation are others than those of the first."""
    prefix = step.prefix if step.generation == 1 else f"{step.prefix}.{step.generation}"
    return Recording(step.recorded, prefix=prefix, kept=step.kept, recorder=recorder, retry=retry)


def waiting(step: ParkedStep, recording: Recording, parked: Parked) -> ParkedStep:
    recorded, kept = tuple(recording.recorded), tuple(recording.kept)
    return attrs.evolve(step, recorded=recorded, kept=kept, question=parked.question)


def again(step: ParkedStep, recording: Recording, diverged: Diverged) -> ParkedStep:
    """The step from an empty record, where what was carried out keeps its answer."""
    if step.generation > 1:
        raise ReplayDivergedError(problems.diverged_twice(diverged.problem)) from None
    return attrs.evolve(step, recorded=(), question=None, kept=tuple(recording.recorded), generation=2)
