"""The contract between a moderator script and its host, checked when the script is compiled (X-08, runtime.md 3.1).

`initial_state` is the first state. `on_event` takes a context, a state and an event, and returns a task of the next
state. A standard event that `on_event` can never match is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from chatml.builtins.context import CONTEXT_TYPE
from chatml.builtins.item import ITEM_TYPE
from chatml.builtins.schemes import JSON, record, task
from chatml.builtins.tool_call import TOOL_CALL_TYPE
from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.model import Diagnostic
from chatml.diagnostics.suggest import near
from chatml.pipeline import Program
from chatml.records import evolve
from chatml.source import Span
from chatml.stack import deep
from chatml.types.checked import Contract
from chatml.types.facts import Mismatch
from chatml.types.model import Extend, Fun, RowVar, String, Type, Unit, Unknown, Var, Variant
from chatml.types.report.problems import describe_all
from chatml.types.show import flatten


@attrs.frozen
class Entrypoints:
    """The names of the two bindings that a host looks up."""

    initial_state: str = "initial_state"
    on_event: str = "on_event"


STANDARD = Entrypoints()
"""The names that every moderator uses."""

EVENTS: Mapping[str, Type] = {
    "Session_start": Unit,
    "Session_resume": Unit,
    "Turn_start": Unit,
    "Item_appended": ITEM_TYPE,
    "Pre_tool_call": TOOL_CALL_TYPE,
    "Post_tool_response": record(call_id=String, name=String, result=JSON),
    "Turn_end": Unit,
}
"""The standard events and what they carry (runtime.md 9.1)."""

CARRIES: Mapping[str, str] = {
    "Item_appended": "an `item`",
    "Pre_tool_call": "a `tool_call`",
    "Post_tool_response": "a `tool_result`",
}
"""What the payload of an event is called; the others carry nothing."""

CONTEXT, STATE, EVENT, RESULT, NEXT = (Var(name) for name in ("context", "state", "event", "result", "next"))
LONGEST_NOTE, LONGEST_TYPE = 300, 120
"""The types of whole contexts say less than nothing; a longer note is left out, a longer type cut off."""

HELP = "define `let initial_state = …` and `let on_event ctx st ev = …`, which returns a task of the next state"


def check_entrypoints(program: Program, names: Entrypoints = STANDARD) -> tuple[Diagnostic, ...]:
    """Hold a script to the contract. `CompileError` if it does not keep it; the result are the warnings."""
    check = _Check(program, names)
    check.run()
    if check.problems:
        raise CompileError(check.problems)
    return tuple(check.warnings)


class _Check:
    """One check; what it finds out about the types of context, state and event is in the `contract`."""

    def __init__(self, program: Program, names: Entrypoints) -> None:
        self.program = program
        self.names = names
        self.contract: Contract = program.checked.contract()
        self.problems: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    def run(self) -> None:
        for name in (self.names.initial_state, self.names.on_event):
            if name not in self.contract.types:
                self.missing(name)
        handler = self.names.on_event
        if handler not in self.contract.types:
            return
        if not self.wants(Fun([CONTEXT, STATE, EVENT], RESULT), self.not_a_handler()):
            return
        self.wants(
            Fun([CONTEXT_TYPE, STATE, EVENT], RESULT),
            f"`{handler}` cannot be given the context that hosts give it",
            "its first parameter is the context: a record of session_id, now_ms, phase, items, available_tools and "
            "session_meta",
        )
        self.events()
        returns = self.wants(
            Fun([CONTEXT, STATE, EVENT], task(NEXT)),
            f"`{handler}` must return a task of the next state, and it returns {self.a(RESULT)}",
            "wrap the next state: `Task.pure(…)`",
        )
        if returns and self.wants(
            Fun([CONTEXT, STATE, EVENT], task(STATE)),
            f"`{handler}` must return a task of the state that it takes: "
            f"it takes {self.a(STATE)} and returns a task of {self.a(NEXT)}",
            "the state that one event leaves is what the next event is given",
        ):
            self.initial()

    def missing(self, name: str) -> None:
        end = len(self.program.source.text)
        self.problems.append(
            Diagnostic(
                "type.entry_point_missing",
                f"the script of a moderator must define `{name}`",
                self.program.source.span(end, end),
                help=HELP,
            )
        )

    def not_a_handler(self) -> str:
        name = self.names.on_event
        return (
            f"`{name}` must be a function of three parameters, context, state and event, and it is "
            f"`{self.program.checked.show(name)}`"
        )

    def initial(self) -> None:
        """The first state has to be of the type that the handler takes."""
        name = self.names.initial_state
        if name not in self.contract.types:
            return
        mismatch = self.contract.fit(name, STATE)
        if mismatch is not None:
            self.refuse(
                mismatch,
                f"`{name}` does not fit the state type: it is `{self.program.checked.show(name)}`, and "
                f"`{self.names.on_event}` takes {self.a(STATE)}",
                None,
            )

    def events(self) -> None:
        """What the handler does with the standard events."""
        handler = self.names.on_event
        events = Variant(RowVar("events"))
        if not self.wants(
            Fun([CONTEXT, STATE, events], RESULT),
            f"`{handler}` must take an event, which is a variant, and it takes {self.a(EVENT)}",
            "its third parameter is the event: match it, for example with `Turn_start",
        ):
            return
        known, _ = flatten(event_row(self.contract, handler))
        overfed = [tag for tag, held in known.items() if EVENTS.get(tag) is Unit and isinstance(linked(held), Unknown)]
        unmatched = []
        for tag, payload in EVENTS.items():
            if self.contract.fit(handler, self.handler_of(tag, Var(tag))) is not None:
                unmatched.append(tag)
                continue
            carries = CARRIES.get(tag, "nothing")
            self.wants(
                self.handler_of(tag, payload),
                f"the event `{tag} carries {carries}, and `{handler}` expects {self.a(Var(tag))}",
                None,
            )
        if overfed:
            self.warn(
                f"an arm of `{handler}` can never match {tags(overfed)}: it takes an argument, and the event has none",
                (),
                "write the tag without parentheses",
            )
        if unmatched:
            self.warn_of_unmatched(unmatched, known)

    def handler_of(self, tag: str, payload: Type) -> Type:
        """The type of a handler that takes an event, among others."""
        return Fun([CONTEXT, STATE, Variant(Extend({tag: payload}, RowVar(f"after_{tag}")))], RESULT)

    def warn_of_unmatched(self, unmatched: list[str], known: Mapping[str, Type]) -> None:
        """Name the events that the handler would fail on."""
        handler = self.names.on_event
        own = [tag for tag in sorted(known) if tag not in EVENTS]
        hints = [f"did you mean `{hit} where it says `{tag}?" for tag in own for hit in near(tag, unmatched, most=1)]
        self.warn(
            f"`{handler}` can never match {tags(unmatched)}: when a host delivers such an event, the handler fails",
            (f"it matches {tags(sorted(known)) or 'no event at all'}",),
            " ".join([*hints, "add a last case `| _ -> Task.pure(st)` for every event that is of no interest"]),
        )

    def warn(self, message: str, notes: tuple[str, ...], help: str) -> None:
        place = self.place(self.names.on_event)
        self.warnings.append(
            Diagnostic("type.unmatched_events", message, place, severity="warning", notes=notes, help=help)
        )

    def wants(self, expected: Type, message: str, help: str | None = HELP) -> bool:
        """Whether the handler has a type; if not, that is a problem with this message."""
        mismatch = self.contract.fit(self.names.on_event, expected)
        if mismatch is not None:
            self.refuse(mismatch, message, help)
        return mismatch is None

    def refuse(self, mismatch: Mismatch, message: str, help: str | None) -> None:
        checked = self.program.checked
        with deep():
            (general,) = describe_all((mismatch,), checked.script, checked.types)
        missing = mismatch.kind.startswith("absent")  # then the general words name the field, and those near it
        notes = (general.message, *general.notes) if missing else general.notes
        self.problems.append(
            evolve(
                general,
                code="type.entry_point",
                message=message,
                notes=tuple(note for note in notes if len(note) <= LONGEST_NOTE),
                help=help if general.help is None else general.help,
            )
        )

    def a(self, type: Type) -> str:
        text = self.contract.show(type)
        return f"`{text}`" if len(text) <= LONGEST_TYPE else f"`{text[:LONGEST_TYPE]}…`"

    def place(self, name: str) -> Span:
        return self.contract.places[name].span


def tags(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}" for name in names)


def event_row(contract: Contract, handler: str) -> Type:
    """The row of the events that a handler takes."""
    with deep():
        function = contract.type(handler)
    assert isinstance(function, Fun)
    event = linked(function.params[2])
    assert isinstance(event, Variant)
    return event.row


def linked(type: Type) -> Type:
    """What is known of a type; an `Unknown` if it may be any."""
    while isinstance(type, Unknown) and type.link is not None:
        type = type.link
    return type
