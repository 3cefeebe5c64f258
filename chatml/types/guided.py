"""Inference that knows what a host hands to the handler of a moderator, and what it wants back (X-47).

A script is inferred as any other, but for the handler: its parameters are given the types of the context, the state and
the event, and each place that gives the next state is held to it by itself. So a mistake is found where it was made:

    let on_event ctx st ev = match ev with
      | `Turn_start -> st                 (* found here: no task *)
      | _ -> print(ctx.nw_ms); Task.pure(st)   (* and here: no such field *)

Plain inference would find that the arms differ, or that the host's types do not fit the whole function.
"""

from __future__ import annotations

from collections.abc import Iterator

from chatml.records import evolve, frozen
from chatml.source import Span
from chatml.syntax import ast
from chatml.types.checked import Checked, places
from chatml.types.environment import Entry, Environment, HostTypes
from chatml.types.facts import Mismatch, Site
from chatml.types.freeze import mismatch
from chatml.types.infer import Inference
from chatml.types.model import Con, Extend, Fun, Type, Unit, Variant
from chatml.types.rebuild import level_of
from chatml.types.scheme import ANYTHING
from chatml.types.statements import Statements
from chatml.types.unify import Failure


@frozen
class Entrypoints:
    """The names of the two bindings that a host looks up."""

    initial_state: str = "initial_state"
    on_event: str = "on_event"


STANDARD = Entrypoints()
"""The names that every moderator uses."""


def is_moderator(script: ast.Script, names: Entrypoints = STANDARD) -> bool:
    """Whether a script defines one of the entry points, so that it is held to the contract."""
    return not {names.initial_state, names.on_event}.isdisjoint(places(script))


def handler_of(script: ast.Script, names: Entrypoints) -> ast.Lambda | None:
    """The function that `on_event` is defined as, the last time; None if it is defined as something else.

    In a text that breaks off the definition may go on, as `let on_event … in`.
    """
    found: ast.Expr | None = None
    for statement in script.statements:
        match statement:
            case ast.LetStatement(name, value) | ast.ExprStatement(ast.Let(name, value)) if name.name == names.on_event:
                found = value
            case ast.LetRecStatement(bindings):
                found = next((each.value for each in bindings if each.name.name == names.on_event), found)
    return found if isinstance(found, ast.Lambda) else None


class GuidedStatements(Statements):
    """Checks the statements of a moderator by the types of its host, if the environment has one.

    Unless `strict`, only the parameters of the handler are given their types: that is for editors, where a result that
    does not fit yet hides nothing.
    """

    def __init__(self, environment: Environment, names: Entrypoints = STANDARD, *, strict: bool = False) -> None:
        self.names = names
        self.guided = None if environment.given is None else Guided(environment, environment.given, names, strict)
        super().__init__(environment, self.guided)

    def extend(self, script: ast.Script, work: float | None = None) -> Checked:
        """Check further statements; see `Statements`."""
        if self.guided is not None:
            self.guided.handler = handler_of(script, self.names)
            first = places(script).get(self.names.initial_state)
            self.guided.first = None if first is None else first.span
        return super().extend(script, work)


class Guided(Inference):
    """Infers expressions, those of the handler by the host's types."""

    def __init__(self, environment: Environment, host: HostTypes, names: Entrypoints, strict: bool) -> None:
        super().__init__(environment)
        self.host = host
        self.names = names
        self.strict = strict
        self.handler: ast.Lambda | None = None
        self.first: Span | None = None
        """Where the first state is bound."""
        self.wanted: dict[ast.Expr, Type] = {}
        """What gives the next state, and the type that it has to have."""

    def infer(self, expr: ast.Expr) -> Type:
        type = super().infer(expr)
        wanted = self.wanted.get(expr)
        if wanted is not None:
            self.hold(expr, type, wanted)
            return wanted
        return type

    def hold(self, expr: ast.Expr, type: Type, wanted: Type) -> None:
        """Report what gives no next state, and go on as if it did: another arm may be at fault as well."""
        mark = len(self.unifier.trail)
        self.unifier.site = expr
        try:
            self.unifier.unify(type, wanted)
        except Failure as failure:
            found = mismatch(failure, type, wanted, Site("next_state", expr), expr.span)
            self.unifier.roll_back(mark)
            self.problems.append(self.at_the_label(evolve(found, right_because=self.first), expr))

    def at_the_label(self, problem: Mismatch, expr: ast.Expr) -> Mismatch:
        """A field that the state does not have is told where it is written."""
        if problem.kind != "absent_field_right" or self.handler is None:
            return problem
        for node in (expr, self.handler):
            for field in fields_in(node):
                if field.label.name == problem.labels[0]:
                    return evolve(problem, span=field.label.span)
        return problem

    def function(self, expr: ast.Lambda) -> Type:
        if expr is not self.handler or len(expr.params) != 3:
            return super().function(expr)
        state = self.state()
        params = [self.host.context, state, self.event(expr)]
        if self.strict:
            self.wanted = dict(results(expr.body, Con("task", [state]), state))
        mark = self.scope.mark()
        for ident, param in zip(expr.params, params, strict=True):
            self.define(ident, param)
        body = self.infer(expr.body)
        self.scope.leave(mark)
        return Fun(params, body, level_of([*params, body]))

    def state(self) -> Type:
        """The type of the first state; any type before it is defined."""
        entry: Entry | None = self.scope.entries.get(self.names.initial_state)
        return self.fresh() if entry is None or entry is ANYTHING else self.use(entry)

    def event(self, handler: ast.Lambda) -> Type:
        """The type of the event: the tags that the handler matches it with, what the standard ones carry, and others.

        Tags that it does not match are left out: that it lacks arms for them is a warning, not a fault.
        """
        tags = tags_of(handler)
        standard = self.host.events
        carried = {tag: standard.get(tag) or self.fresh() for tag in tags or standard}
        # What an event without content is matched with may have an argument (L-132): that is a warning, too.
        overfed = {tag for tag, arguments in tags.items() if arguments and carried[tag] is Unit}
        row = {tag: self.fresh() if tag in overfed else type for tag, type in carried.items()}
        return Variant(Extend(row, self.fresh()))


def tags_of(handler: ast.Lambda) -> dict[str, int]:
    """The tags with which a handler matches its event, and with how many arguments."""
    name = handler.params[2].name
    found: dict[str, int] = {}
    for node in inside(handler.body):
        if isinstance(node, ast.Match) and isinstance(node.scrutinee, ast.Name) and node.scrutinee.name == name:
            for arm in node.arms:
                if isinstance(arm.pattern, ast.VariantPattern):
                    found.setdefault(arm.pattern.tag, len(arm.pattern.args))
    return found


def results(body: ast.Expr, wanted: Type, state: Type) -> Iterator[tuple[ast.Expr, Type]]:
    """The expressions whose value is that of the handler, and what each has to give.

    After `let*` a task of the state follows, after `let+` the state itself.
    """
    waiting: list[tuple[ast.Expr, Type]] = [(body, wanted)]
    while waiting:
        expr, wanted = waiting.pop()
        match expr:
            case ast.Seq(second=last) | ast.Let(body=last) | ast.LetRec(body=last):
                waiting.append((last, wanted))
            case ast.If(then=then, otherwise=otherwise):
                waiting += [(otherwise, wanted), (then, wanted)]
            case ast.Match(arms=arms):
                waiting += [(arm.body, wanted) for arm in reversed(arms)]
            case ast.Call(args=(_, ast.Lambda(body=last)), form="let*") if wanted is not state:
                waiting.append((last, wanted))
            case ast.Call(args=(_, ast.Lambda(body=last)), form="let+") if wanted is not state:
                waiting.append((last, state))
            case _:
                yield expr, wanted


def fields_in(node: ast.Expr) -> Iterator[ast.Field]:
    """The fields that records are made with inside an expression, the outermost first."""
    return (part for part in inside(node) if isinstance(part, ast.Field))


def inside(node: ast.Expr) -> Iterator[object]:
    """An expression and everything in it, in order."""
    waiting: list[object] = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(list(ast.children(part)))
