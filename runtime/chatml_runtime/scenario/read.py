"""Reading a scenario file: JSON5, one object, or a list of events, or a line for each event (docs/scenarios.md).

Whatever is unknown or ill-formed is refused with its place before anything runs; `locate` finds the place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.suggest import did_you_mean
from chatml.records import evolve
from chatml.source import Source
from chatml_runtime.host.responses import checked
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.vocabulary import (
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
from chatml_runtime.scenario.data import read_data
from chatml_runtime.scenario.document import Node, parse, show_path
from chatml_runtime.scenario.impossible import impossible_events
from chatml_runtime.scenario.model import (
    Advance,
    Answer,
    Answers,
    Append,
    Deliver,
    HostData,
    Line,
    Respond,
    Say,
    Scenario,
    SessionData,
    Speak,
)
from chatml_runtime.scenario.records import KEYS_OF_ENDING, KEYS_OF_RECORD
from chatml_runtime.script.errors import ModelResponseError


def read_scenario(source: Source | str, *, name: str = "<scenario>") -> Scenario:
    """The scenario that a text describes. `CompileError` with the place of everything that is wrong.

    >>> read_scenario("[{phase: 'turn_start'}, {advance_ms: 500}]").events[1].ms
    500
    """
    root = parse(Source(name, source) if isinstance(source, str) else source)
    if isinstance(root.data, list):
        return Scenario(events=root.each(read_line), warnings=impossible_events(root))
    if "events" not in root.object():
        if not root.data.keys().isdisjoint(LINES):
            return Scenario(events=(read_line(root),), warnings=impossible_events(root))
        root.fail("scenario.shape", "a scenario is an object with the key `events`, or a list of events")
    fields = root.known("session", "host", "events", "expect")
    return Scenario(
        events=fields["events"].each(read_line),
        session=read_session(fields["session"]) if "session" in fields else SessionData(),
        host=read_host(fields["host"]) if "host" in fields else HostData(),
        expect=read_expectations(fields["expect"]) if "expect" in fields else None,
        warnings=impossible_events(fields["events"]),
    )


def read_expectations(node: Node) -> tuple[Json, ...]:
    """Parts of records, and at the end perhaps of the ending, by its key `final`."""
    expect = node.each(read_expectation)
    for index, expected in enumerate(expect[:-1]):
        if "final" in expected:
            node.at(index).fail(
                "scenario.shape", "what has the key `final` is expected of the ending, so it stands last"
            )
    return expect


def read_expectation(node: Node) -> Json:
    node.known(*(KEYS_OF_ENDING if "final" in node.object() else KEYS_OF_RECORD))
    return node.data


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
        "" if node.data.get("description") is None else fields["description"].text(),
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
            f"an event has one of the keys {', '.join(LINES)}",
            None if unknown is None else did_you_mean(unknown, LINES),
        )
    return LINES[kinds[0]](node)


def read_user(node: Node) -> Line:
    said = node.known("user")["user"]
    if isinstance(said.data, str):
        text = said.text().strip()
        if not text:
            said.fail("scenario.shape", "a submission is not blank: hosts ignore one that is")
        return Say({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
    item = said.item()
    if item.get("type") != "message" or item.get("role") != "user":
        said.fail("scenario.shape", "a submission is a text, or a message of the role `user`")
    return Say(item)


def read_model(node: Node) -> Line:
    return Speak(node.known("model")["model"].each(read_response_item))


def read_response_item(node: Node) -> Json:
    try:
        return checked(node.item(), int(node.path[-1]))
    except ModelResponseError as error:
        node.fail("scenario.shape", str(error))


def read_answer_line(node: Node) -> Line:
    fields = node.known("answer", "by", required=["answer"])
    return Respond(fields["answer"].text(), fields["by"].text() if "by" in fields else "")


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
    expression = node.text()
    try:
        return Deliver(InternalEvent(read_data(Source(show_path(node.path), expression))))
    except CompileError as error:
        problem = error.diagnostics[0]
        message = f"{show_path(node.path)}: {problem.message}"
        span = node.document.span_of(node.path)
        raise CompileError([evolve(problem, message=message, span=span, labels=(), notes=problem.notes)]) from None


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
    "user": read_user,
    "model": read_model,
    "answer": read_answer_line,
    "advance_ms": read_advance,
}
"""What an element of `events` can be, by its key."""
