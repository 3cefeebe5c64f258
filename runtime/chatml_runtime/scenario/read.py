"""Reading a scenario file: JSON5, one object, or a list of events, or a line for each event (docs/scenarios.md).

Whatever is unknown or ill-formed is refused with its place before anything runs; `locate` finds the place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import attrs
import json5

from chatml.boundary import from_json
from chatml.diagnostics import Diagnostic
from chatml.errors import BoundaryError, CompileError
from chatml.source import Source
from chatml.suggest import did_you_mean
from chatml_runtime.identities import Json
from chatml_runtime.scenario.data import read_data
from chatml_runtime.scenario.locate import Path, locate
from chatml_runtime.scenario.model import (
    Advance,
    Answer,
    Answers,
    Append,
    Deliver,
    HostData,
    Line,
    Respond,
    Scenario,
    SessionData,
)
from chatml_runtime.vocabulary import (
    Event,
    InternalEvent,
    Phase,
    PostToolResponse,
    PreToolCall,
    SessionResume,
    SessionStart,
    ToolCall,
    ToolDesc,
    ToolResult,
    TurnEnd,
    TurnStart,
)

JSON5_PROBLEM = re.compile(r"<string>:(\d+) (.*?)(?: at column (\d+))?$", re.DOTALL)


def read_scenario(source: Source | str, *, name: str = "<scenario>") -> Scenario:
    """The scenario that a text describes. `CompileError` with the place of everything that is wrong.

    >>> read_scenario("[{phase: 'turn_start'}, {advance_ms: 500}]").events[1].ms
    500
    """
    document = parse(Source(name, source) if isinstance(source, str) else source)
    root = Node(document.data, (), document)
    if isinstance(document.data, list):
        return Scenario(events=root.each(read_line))
    if "events" not in root.object():
        if isinstance(document.data, dict) and not document.data.keys().isdisjoint(LINES):
            return Scenario(events=(read_line(root),))
        root.fail("scenario.shape", "a scenario is an object with the key `events`, or a list of events")
    fields = root.known("session", "host", "events", "expect")
    return Scenario(
        events=fields["events"].each(read_line),
        session=read_session(fields["session"]) if "session" in fields else SessionData(),
        host=read_host(fields["host"]) if "host" in fields else HostData(),
        expect=fields["expect"].each(lambda node: node.data) if "expect" in fields else None,
    )


# -- the text


@attrs.frozen(eq=False)
class Document:
    """A parsed text. `starts` holds the offset of each line's value in JSON Lines, None if the text is one value."""

    source: Source
    data: Json
    starts: tuple[int, ...] | None = None

    def span_of(self, path: Path) -> Any:
        """The place of a value, or of a key if the path ends in one that is unknown."""
        if self.starts is None:
            return locate(self.source, 0, path)
        first, *rest = path or (0,)
        return locate(self.source, self.starts[int(first)], tuple(rest))


def parse(source: Source) -> Document:
    """The data in a text: one JSON5 value, or one object per line."""
    lines = [
        (start, text)
        for start, text in zip(
            source.line_starts,
            (source.line(number + 1) for number in range(len(source.line_starts))),
            strict=True,
        )
        if text.strip() and not text.lstrip().startswith("//")
    ]
    if not lines:
        fail(source, 0, "scenario.syntax", "the scenario is empty: it needs a list of events")
    if len(lines) > 1 and is_object(lines[0][1]):
        data = [parse_value(source, start, text) for start, text in lines]
        return Document(source, data, tuple(start for start, _ in lines))
    return Document(source, parse_value(source, 0, source.text))


def is_object(text: str) -> bool:
    try:
        return isinstance(load(text), dict)
    except (ValueError, RecursionError):
        return False


def load(text: str) -> Json:
    """The value of a JSON5 text; most are plain JSON, which is read a hundred times faster."""
    try:
        return json.loads(text)
    except ValueError:
        return json5.loads(text)


def parse_value(source: Source, start: int, text: str) -> Json:
    try:
        return load(text)
    except RecursionError:
        fail(source, start, "scenario.syntax", "the scenario is nested too deeply")
    except ValueError as error:
        problem = JSON5_PROBLEM.match(str(error))
        if problem is None:
            fail(source, start, "scenario.syntax", f"the scenario is not JSON5: {error}")
        line, message, column = problem.groups()
        first = source.position(start).line
        offset = source.line_starts[min(first + int(line) - 2, len(source.line_starts) - 1)]
        fail(source, offset + int(column or 1) - 1, "scenario.syntax", f"the scenario is not JSON5: {lower(message)}")


def lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def fail(source: Source, offset: int, code: str, message: str) -> NoReturn:
    left = min(offset, len(source.text))
    raise CompileError([Diagnostic(code, message, source.span(left, min(left + 1, len(source.text))))])


# -- the data

Read = TypeVar("Read")


@attrs.frozen(eq=False)
class Node:
    """A piece of the data and its path, so that a problem can be shown where it is."""

    data: Json
    path: Path
    document: Document

    def fail(self, code: str, message: str, help: str | None = None) -> NoReturn:
        """Refuse the scenario because of this piece."""
        place = show_path(self.path)
        diagnostic = Diagnostic(
            code, f"{place}: {message}" if place else message, self.document.span_of(self.path), help=help
        )
        raise CompileError([diagnostic])

    def at(self, key: str | int) -> Node:
        return Node(self.data[key], (*self.path, key), self.document)

    def object(self) -> Mapping[str, Json]:
        if not isinstance(self.data, dict):
            self.fail("scenario.shape", "expected an object")
        return self.data

    def each(self, read: Callable[[Node], Read]) -> tuple[Read, ...]:
        """The elements of a list."""
        if not isinstance(self.data, list):
            self.fail("scenario.shape", "expected a list")
        return tuple(read(self.at(index)) for index in range(len(self.data)))

    def known(self, *keys: str, required: Sequence[str] = ()) -> dict[str, Node]:
        """The fields of an object that may have these keys."""
        for key in self.object():
            if key not in keys:
                Node(None, (*self.path, key), self.document).fail(
                    "scenario.unknown_key",
                    f"unknown key; expected {' or '.join(keys) if len(keys) < 3 else 'one of ' + ', '.join(keys)}",
                    did_you_mean(key, keys),
                )
        for key in required:
            if key not in self.data:
                self.fail("scenario.shape", f"the key `{key}` is missing")
        return {key: self.at(key) for key in self.data}

    def text(self) -> str:
        if not isinstance(self.data, str):
            self.fail("scenario.shape", "expected a string")
        self.json()
        return self.data

    def integer(self) -> int:
        """An integer of at least 0."""
        number = self.data
        if isinstance(number, float) and number.is_integer():
            number = int(number)
        if type(number) is not int or not 0 <= number < 2**53:
            self.fail("scenario.shape", "expected an integer of at least 0")
        return number

    def json(self) -> Json:
        """Data that scripts can hold."""
        try:
            from_json(self.data)
        except BoundaryError as error:
            self.fail("scenario.data", str(error))
        return self.data

    def item(self) -> Json:
        """A provider item."""
        self.object()
        return self.json()


def show_path(path: Path) -> str:
    """A path as JavaScript would write it: `events[3].call`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def read_session(node: Node) -> SessionData:
    fields = node.known("id", "meta", "now_ms", "tools", "history")
    session_id = fields["id"].text() if "id" in fields else SessionData().id
    if not session_id:
        fields["id"].fail("scenario.shape", "the id of a session must not be empty")
    return SessionData(
        id=session_id,
        meta=fields["meta"].json() if "meta" in fields else None,
        now_ms=fields["now_ms"].integer() if "now_ms" in fields else 0,
        tools=fields["tools"].each(read_tool) if "tools" in fields else (),
        history=fields["history"].each(Node.item) if "history" in fields else (),
    )


def read_tool(node: Node) -> ToolDesc:
    fields = node.known("name", "description", "input_schema", required=["name"])
    return ToolDesc(
        fields["name"].text(),
        fields["description"].text() if "description" in fields else "",
        fields["input_schema"].json() if "input_schema" in fields else None,
    )


ANSWER_KINDS = {
    "tools": ("ok", "error", "fail"),
    "models": ("ok", "refused", "error", "fail"),
    "processes": ("ok", "error", "fail"),
}
"""What each group of a host can answer."""


def read_host(node: Node) -> HostData:
    groups = {group: read_answers(answers, group) for group, answers in node.known(*ANSWER_KINDS).items()}
    return HostData(**groups)


def read_answers(node: Node, group: str) -> Answers:
    def read(answer: Node) -> Answer:
        return read_answer(answer, group)

    answers = {}
    for name in node.object():
        named = node.at(name)
        answers[name] = named.each(read) if isinstance(named.data, list) else (read(named),)
        if not answers[name]:
            named.fail("scenario.shape", "a list of answers needs at least one")
    return answers


def read_answer(node: Node, group: str) -> Answer:
    fields = node.known(*ANSWER_KINDS[group])
    if len(fields) != 1:
        node.fail("scenario.shape", f"an answer is one of {', '.join(ANSWER_KINDS[group])}")
    ((kind, content),) = fields.items()
    return Answer(kind, content.json() if kind == "ok" and group != "processes" else content.text())


def read_line(node: Node) -> Line:
    kinds = [key for key in LINES if key in node.object()]
    if not kinds:
        unknown = next(iter(node.data), None)
        node.fail(
            "scenario.unknown_event",
            "an event has one of the keys phase, answer, advance_ms",
            None if unknown is None else did_you_mean(unknown, LINES),
        )
    return LINES[kinds[0]](node)


def read_answer_line(node: Node) -> Line:
    return Respond(node.known("answer")["answer"].text())


def read_advance(node: Node) -> Line:
    return Advance(node.known("advance_ms")["advance_ms"].integer())


def read_event(node: Node) -> Line:
    phase = node.at("phase")
    if phase.text() not in EVENTS:
        phase.fail(
            "scenario.unknown_event",
            f'unknown phase "{phase.data}"; the phases are {", ".join(EVENTS)}',
            did_you_mean(phase.data, EVENTS),
        )
    key, read = EVENTS[phase.data]
    if key is None:
        node.known("phase")
        return read(phase)
    return read(node.known("phase", key, required=[key])[key])


def read_call(node: Node) -> Line:
    fields = node.known("id", "name", "args", required=["id", "name"])
    args = fields["args"].json() if "args" in fields else {}
    return Deliver(PreToolCall(ToolCall(fields["id"].text(), fields["name"].text(), args)))


def read_result(node: Node) -> Line:
    fields = node.known("call_id", "name", "result", required=["call_id", "name"])
    result = fields["result"].json() if "result" in fields else None
    return Deliver(PostToolResponse(ToolResult(fields["call_id"].text(), fields["name"].text(), result)))


def read_internal(node: Node) -> Line:
    try:
        return Deliver(InternalEvent(read_data(Source(show_path(node.path), node.text()))))
    except CompileError as error:
        problem = error.diagnostics[0]
        message = f"{show_path(node.path)}: {problem.message}"
        span = node.document.span_of(node.path)
        raise CompileError(
            [attrs.evolve(problem, message=message, span=span, labels=(), notes=problem.notes)]
        ) from None


def plain(event: Event) -> Callable[[Node], Line]:
    return lambda node: Deliver(event)


EVENTS: Mapping[str, tuple[str | None, Callable[[Node], Line]]] = {
    Phase.SESSION_START.value: (None, plain(SessionStart())),
    Phase.SESSION_RESUME.value: (None, plain(SessionResume())),
    Phase.TURN_START.value: (None, plain(TurnStart())),
    Phase.MESSAGE_APPENDED.value: ("item", lambda node: Append(node.item())),
    Phase.PRE_TOOL_CALL.value: ("call", read_call),
    Phase.POST_TOOL_RESPONSE.value: ("result", read_result),
    Phase.TURN_END.value: (None, plain(TurnEnd())),
    Phase.INTERNAL_EVENT.value: ("value", read_internal),
}
"""The events by phase: the key that holds their content, and what reads it."""

LINES: Mapping[str, Callable[[Node], Line]] = {
    "phase": read_event,
    "answer": read_answer_line,
    "advance_ms": read_advance,
}
"""What an element of `events` can be, by its key."""
