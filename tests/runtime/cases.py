"""Session cases in text: a script, and what each step has to show (builtins.md appendix A.3).

A block is `### ID SURFACE | title`, the script, `--- steps HANDLERS`, and steps. `> PHASE EVENT` delivers an event,
`> resume "TEXT"`, `> enqueue EVENT` and `> abandon` do what they say. Then follow, each optional but the second:

| line | meaning |
| --- | --- |
| `log: LEVEL TEXT` | a log call during the step; all of them, in order (`log~ A | B`: fragments of it) |
| `= ok` or `= error CLASS: A | B` | how it went; the fragments are in the message, the class may be left out |
| `effect: NAME(ARGS)` | a newly committed effect; all of them, in order |
| `state: TEXT` (`state~ A | B`) | the committed state |
| `waiting: KIND PROMPT [CHOICES]` | the pending request; `-` for none |
| `queue: [EVENTS]`, `halted: REASON` | the queue; why the session ended, `-` if it has not |
| `buffered: NAME(ARGS)` | an effect that the suspended run has buffered; all of them, in order |
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

import chatml
from chatml.diagnostics.errors import ChatmlError
from chatml.values.model import Value
from chatml.values.text import show
from chatml_runtime.script import errors
from chatml_runtime.script.approvals import AskChoice, PendingRequest
from chatml_runtime.script.effects import Effect
from chatml_runtime.script.operations import OpContext
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.scripts import compile_script
from chatml_runtime.script.standard import Handlers
from chatml_runtime.script.tracing import trace_script

CORPUS = Path(__file__).parent / "corpus"
SURFACES = {"moderator": chatml.MODERATOR, "ui": chatml.UI_MODERATOR}
HEADER = re.compile(r"### (\S+) (?:session )?(\w+) \| (.*)")
CONTEXT = {
    "session_id": "s",
    "now_ms": 0,
    "items": [],
    "available_tools": [],
    "session_meta": ("Null",),
}
LISTS = {"log", "effect", "buffered"}


@attrs.frozen
class Step:
    """A command and the lines that it has to show."""

    command: str
    expected: tuple[str, ...]


@attrs.frozen
class Case:
    """One session and its steps."""

    id: str
    surface: str
    title: str
    script: str
    handlers: str
    steps: tuple[Step, ...]


def read_corpus() -> list[Case]:
    """Every case of every file, in order."""
    return [case for path in sorted(CORPUS.glob("*.session")) for case in read_cases(path.read_text("utf-8"))]


def read_cases(text: str) -> Iterator[Case]:
    for block in text.strip().split("\n\n"):
        header, *lines = block.splitlines()
        match = HEADER.fullmatch(header)
        assert match, header
        divider = next(index for index, line in enumerate(lines) if line.startswith("--- steps "))
        steps: list[Step] = []
        for command, expected in grouped(lines[divider + 1 :]):
            steps.append(Step(command, expected))
        id_, surface, title = match.groups()
        script = "\n".join(lines[:divider])
        yield Case(id_, surface, title, script, lines[divider].removeprefix("--- steps "), tuple(steps))


def grouped(lines: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each command with the lines up to the next one."""
    starts = [index for index, line in enumerate(lines) if line.startswith("> ")]
    for start, end in itertools.pairwise([*starts, len(lines)]):
        yield lines[start].removeprefix("> "), tuple(lines[start + 1 : end])


def evaluate(text: str) -> Value:
    """The value of an expression of data."""
    return chatml.compile(f"let it = {text}").run()["it"]


class Host:
    """A host that answers as a case's handlers say, and keeps what it was told to log."""

    def __init__(self, kind: str) -> None:
        self.logs: list[str] = []
        self.spawned = itertools.count(1)
        self.handlers = getattr(self, kind.replace("-", "_"))()

    def log(self, context: OpContext, level: str, message: str) -> None:
        self.logs.append(f"{level} {message}")

    def spawns(self, prefix: str) -> Callable[..., str]:
        return lambda context, *args: f"{prefix}-{next(self.spawned)}"

    def stub(self) -> Handlers:
        return Handlers(
            log=self.log,
            tool_call=lambda context, name, args: ("Ok", args),
            model_call=lambda context, recipe, payload: ("Ok", payload),
            tool_spawn=self.spawns("tool"),
            model_spawn=self.spawns("model"),
            process_run=self.spawns("proc"),
            schedule_after_ms=self.spawns("sched"),
            schedule_cancel=lambda context, timer: None,
        )

    def default(self) -> Handlers:
        return Handlers(log=self.log)

    def down(self) -> Handlers:
        return attrs.evolve(self.stub(), tool_call=lambda context, name, args: ("Error", "down"))

    def disk_full(self) -> Handlers:
        def tool_call(context: OpContext, name: str, args: Value) -> Value:
            raise OSError("disk full")

        return attrs.evolve(self.stub(), tool_call=tool_call)


class Conversation:
    """A session that takes the commands of a case and shows what came of each."""

    def __init__(self, case: Case, *, traced: bool = False) -> None:
        self.host = Host(case.handlers)
        script = compile_script(case.script, name=case.id, surface=SURFACES[case.surface])
        if traced:
            script, _ = trace_script(script)
        self.session = script.instantiate(OpRegistry.standard(self.host.handlers))

    def perform(self, command: str) -> dict[str, Any]:
        """What a step shows: its outcome, and everything that can be seen afterwards."""
        session, before = self.session, self.visible()
        self.host.logs.clear()
        committed = len(session.committed_effects)
        error: ChatmlError | None = None
        try:
            self.send(command)
        except (errors.HandlerError, errors.CommitRejectedError, errors.SessionError) as raised:
            error = raised
        after = self.visible()
        if isinstance(error, errors.SessionError) or (error is not None and not command.startswith("resume")):
            assert after == before, "an event that fails changes nothing"
        return {
            **after,
            "error": error,
            "log": list(self.host.logs),
            "effect": [show_effect(effect) for effect in session.committed_effects[committed:]],
        }

    def send(self, command: str) -> None:
        verb, _, rest = command.partition(" ")
        match verb:
            case "resume":
                self.session.resume(evaluate(rest))
            case "enqueue":
                self.session.enqueue(evaluate(rest))
            case "abandon":
                self.session.abandon_pending()
            case phase:
                self.session.handle_event({**CONTEXT, "phase": phase}, evaluate(rest))

    def visible(self) -> dict[str, Any]:
        session = self.session
        return {
            "state": show(session.state),
            "waiting": show_request(session.pending),
            "queue": f"[{', '.join(map(show, session.queued_events))}]",
            "halted": session.end_reason if session.is_halted else "-",
            "buffered": [show_effect(effect) for effect in session.pending_effects],
        }


def show_effect(effect: Effect) -> str:
    return f"{effect.op}({', '.join(map(show, effect.args))})"


def show_request(request: PendingRequest | None) -> str:
    if request is None:
        return "-"
    if isinstance(request, AskChoice):
        return f"ask_choice {request.prompt} [{'|'.join(request.choices)}]"
    return f"ask_text {request.prompt}"


def check(step: Step, shown: dict[str, Any]) -> None:
    """Compare what a step showed with the lines of its case."""
    listed: dict[str, list[str]] = {key: [] for key in LISTS}
    for line in step.expected:
        if line.startswith("="):
            check_outcome(line.removeprefix("= "), shown["error"])
            continue
        match = re.fullmatch(r"(\w+)([:~]) ?(.*)", line)
        assert match, line
        key, exact, text = match.groups()
        if key in LISTS:
            actual = shown[key][len(listed[key])]
            listed[key].append(text)
        else:
            actual = shown[key]
        if exact == ":":
            assert actual == text, line
        else:
            assert missing(actual, text) == [], line
    for key in ("log", "effect"):
        assert len(shown[key]) == len(listed[key]), f"{step.command}: {key}s {shown[key]}"


def check_outcome(expected: str, error: ChatmlError | None) -> None:
    if expected == "ok":
        assert error is None, repr(error)
        return
    match = re.fullmatch(r"error(?: (\w+))?: (.*)", expected)
    assert match, expected
    assert error is not None, "it went well"
    name, facts = match.groups()
    assert name in (None, type(error).__name__), repr(error)
    assert missing(str(error), facts) == [], str(error)


def missing(text: str, fragments: str) -> list[str]:
    """The fragments, separated by bars, that a text lacks."""
    return [fragment for fragment in fragments.split(" | ") if fragment not in text]
