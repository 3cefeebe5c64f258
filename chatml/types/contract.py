"""The contract between a moderator script and its host (X-08, X-47, runtime.md 3.1).

`initial_state` is the first state. `on_event` takes a context, a state and an event, and returns a task of the next
state. What hosts hand over is said by a `HostTypes`, which the surface brings along.

A script that keeps the contract is inferred as any other. One that does not is inferred once more with the host's
types (`chatml.types.guided`), so that the report stands at the mistake; only where nothing nearer is at fault it stands
at the two bindings, in the words of this module. A standard event that `on_event` can never match is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chatml.diagnostics.model import Diagnostic
from chatml.diagnostics.suggest import near
from chatml.records import evolve, frozen
from chatml.source import Span
from chatml.stack import deep
from chatml.syntax import ast
from chatml.types.checked import Checked, Contract, places
from chatml.types.environment import Environment, HostTypes
from chatml.types.facts import Mismatch
from chatml.types.guided import STANDARD, Entrypoints, GuidedStatements, handler_of
from chatml.types.model import Con, Extend, Fun, RowVar, Type, Unit, Unknown, Var, Variant
from chatml.types.report.problems import describe, describe_all
from chatml.types.show import flatten
from chatml.types.variables import resolved

CONTEXT, STATE, EVENT, RESULT, NEXT = (Var(name) for name in ("context", "state", "event", "result", "next"))
LONGEST_NOTE, LONGEST_TYPE = 300, 120
"""The types of whole contexts say less than nothing; a longer note is left out, a longer type cut off."""

HELP = "define `let initial_state = …` and `let on_event ctx st ev = …`, which returns a task of the next state"


@frozen(eq=False)
class Finding:
    """What is wrong with a script as a moderator, the first one first, and what is worth a warning."""

    problems: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


def check_contract(checked: Checked, environment: Environment, names: Entrypoints = STANDARD) -> Finding:
    """Hold a script to the contract. One with type errors is not: its errors are told as the host's types show them."""
    if environment.host is None:
        return Finding(checked.diagnostics)
    if checked.problems:
        return Finding(guided_faults(checked, environment, names) or checked.diagnostics)
    check = _Check(checked, environment.host, names)
    check.run()
    if not check.problems:
        return Finding((), tuple(check.warnings))
    if check.is_handler and not check.is_missing:
        return Finding(guided_faults(checked, environment, names) or tuple(check.problems))
    return Finding(tuple(check.problems))


def guided_faults(checked: Checked, environment: Environment, names: Entrypoints) -> tuple[Diagnostic, ...]:
    """What inference reports that knows the host's types; nothing if the handler is not written as a function."""
    handler = handler_of(checked.script, names)
    if handler is None or environment.problems:
        return ()
    guided = GuidedStatements(environment, names, strict=True).extend(checked.script)
    start = places(checked.script).get(names.initial_state)
    if start is not None and guided.problems:
        blamed = initial_at_fault(guided, handler, start)
        if blamed is not None:
            return (blamed,)
    return guided.diagnostics


def initial_at_fault(guided: Checked, handler: ast.Lambda, start: ast.Ident) -> Diagnostic | None:
    """R-004 (e): the handler computes with the state as a whole as with another kind of value."""
    problem = guided.problems[0]
    if not isinstance(problem, Mismatch) or problem.kind != "differ" or problem.path or len(guided.problems) > 1:
        return None
    node = problem.site.node
    if problem.site.role != "operand" or not isinstance(node, ast.Binary):
        return None
    operand = node.right if problem.site.index else node.left
    if not isinstance(operand, ast.Name) or operand.name != handler.params[1].name:
        return None
    general = describe(problem, guided.script, guided.names)
    return evolve(
        general,
        code="type.entry_point",
        message=f"`{start.name}` does not fit the state that `on_event` takes: {general.message}",
        span=start.span,
        help="the first state and the state that the handler takes and returns are of one type",
    )


class _Check:
    """One check; what it finds out about the types of context, state and event is in the `contract`."""

    def __init__(self, checked: Checked, host: HostTypes, names: Entrypoints) -> None:
        self.checked = checked
        self.host = host
        self.names = names
        self.contract: Contract = checked.contract()
        self.problems: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.is_missing = False
        """Whether a binding is missing."""
        self.is_handler = False
        """Whether `on_event` is a function of three parameters."""

    def run(self) -> None:
        for name in (self.names.initial_state, self.names.on_event):
            if name not in self.contract.types:
                self.missing(name)
        handler = self.names.on_event
        if handler not in self.contract.types:
            return
        self.is_handler = self.wants(Fun([CONTEXT, STATE, EVENT], RESULT), self.not_a_handler())
        if not self.is_handler:
            return
        self.wants(
            Fun([self.host.context, STATE, EVENT], RESULT),
            f"`{handler}` cannot be given the context that hosts give it",
            "its first parameter is the context: a record of session_id, now_ms, phase, items, available_tools and "
            "session_meta",
        )
        self.events()
        returns = self.wants(
            Fun([CONTEXT, STATE, EVENT], Con("task", [NEXT])),
            f"`{handler}` must return a task of the next state, and it returns {self.a(RESULT)}",
            "wrap the next state: `Task.pure(…)`",
        )
        if returns and self.wants(
            Fun([CONTEXT, STATE, EVENT], Con("task", [STATE])),
            f"`{handler}` must return a task of the state that it takes: "
            f"it takes {self.a(STATE)} and returns a task of {self.a(NEXT)}",
            "the state that one event leaves is what the next event is given",
        ):
            self.initial()

    def missing(self, name: str) -> None:
        self.is_missing = True
        source = self.checked.script.span.source
        end = len(source.text)
        message = f"the script of a moderator must define `{name}`"
        self.problems.append(Diagnostic("type.entry_point_missing", message, source.span(end, end), help=HELP))

    def not_a_handler(self) -> str:
        name = self.names.on_event
        wanted = f"`{name}` must be a function of three parameters, context, state and event"
        found = handler_of(self.checked.script, self.names)
        if found is None:
            return f"{wanted}, and it is `{self.checked.tell(name)}`"
        given = ", ".join([f"`{param.name}`" for param in found.params])
        return f"{wanted}, and it has {len(found.params)}: {given or 'none'}"

    def initial(self) -> None:
        """The first state has to be of the type that the handler takes."""
        name = self.names.initial_state
        if name not in self.contract.types:
            return
        mismatch = self.contract.fit(name, STATE)
        if mismatch is not None:
            self.refuse(
                mismatch,
                f"`{name}` does not fit the state type: it is `{self.checked.tell(name)}`, and "
                f"`{self.names.on_event}` takes {self.a(STATE)}",
                None,
            )

    def events(self) -> None:
        """What the handler does with the standard events."""
        handler, standard = self.names.on_event, self.host.events
        if not self.wants(
            Fun([CONTEXT, STATE, Variant(RowVar("events"))], RESULT),
            f"`{handler}` must take an event, which is a variant, and it takes {self.a(EVENT)}",
            "its third parameter is the event: match it, for example with `Turn_start",
        ):
            return
        known, _ = flatten(event_row(self.contract, handler))
        overfed = [
            tag for tag, held in known.items() if standard.get(tag) is Unit and isinstance(resolved(held), Unknown)
        ]
        unmatched = []
        for tag, payload in standard.items():
            if self.contract.fit(handler, handler_of_event(tag, Var(tag))) is not None:
                unmatched.append(tag)
                continue
            carried = "nothing" if payload is Unit else self.a(payload)
            self.wants(
                handler_of_event(tag, payload),
                f"the event `{tag} carries {carried}, and `{handler}` expects {self.a(Var(tag))}",
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

    def warn_of_unmatched(self, unmatched: list[str], known: Mapping[str, Type]) -> None:
        """Name the events that the handler would fail on."""
        handler = self.names.on_event
        own = [tag for tag in sorted(known) if tag not in self.host.events]
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
        checked = self.checked
        with deep():
            (general,) = describe_all((mismatch,), checked.script, checked.types, checked.names)
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
        text = self.contract.tell(type, self.checked.names)
        return f"`{text}`" if len(text) <= LONGEST_TYPE else f"`{text[:LONGEST_TYPE]}…`"

    def place(self, name: str) -> Span:
        return self.contract.places[name].span


def handler_of_event(tag: str, payload: Type) -> Type:
    """The type of a handler that takes an event, among others."""
    return Fun([CONTEXT, STATE, Variant(Extend({tag: payload}, RowVar(f"after_{tag}")))], RESULT)


def tags(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}" for name in names)


def event_row(contract: Contract, handler: str) -> Type:
    """The row of the events that a handler takes."""
    with deep():
        function = contract.type(handler)
    assert isinstance(function, Fun)
    event = resolved(function.params[2])
    assert isinstance(event, Variant)
    return event.row
