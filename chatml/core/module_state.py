"""Writes to what the top level of a script holds, by functions that a handler may reach (live.md section D.6, X-55).

What comes in: a resolved script and the name of its handler. What goes out: a warning for each such write. A value is
followed from a definition through fields, elements, refs and local names, and through the parameters of functions of
the script; what is lost on the way (a ref inside a closure) a host finds at the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from chatml.core import nodes
from chatml.core.branches import INNER
from chatml.diagnostics.model import Diagnostic, Label
from chatml.source import Span

Origin = int | tuple[int, int]
"""Where a value comes from: the cell of a definition, or a parameter: its function, by identity, and its position."""

Roots = frozenset[Origin]
NOTHING: Roots = frozenset()

WRITERS = {("Array", "set"), ("Hashtbl", "set"), ("Hashtbl", "remove"), (None, "swap_ref")}
"""The builtins that write to their first argument."""

READERS = {("Array", "get"), ("Hashtbl", "find"), ("Hashtbl", "get")}
"""The builtins that give a part of their first argument."""


def module_writes(script: nodes.Script, handler: str) -> tuple[Diagnostic, ...]:
    """A warning for each such write of the functions that the handler may reach, in order of place."""
    if handler not in script.definitions:
        return ()
    search = Search(script)
    search.reach(script.definitions[handler])
    found = {}
    for cell, span in search.writes:
        if cell in search.names:
            name, definition = search.names[cell]
            found[span.left, name] = warning(name, span, definition)
    return tuple(found[key] for key in sorted(found))


def warning(name: str, span: Span, definition: Span) -> Diagnostic:
    return Diagnostic(
        "durable.module_state",
        f"this writes to what `{name}` holds, which is not part of the state: a session that is stored and goes on "
        "later has lost it",
        span,
        severity="warning",
        labels=(Label(definition, f"`{name}` begins with this each time"),),
        help="put it into the state",
    )


class Search:
    """What is known so far of the functions of a script."""

    def __init__(self, script: nodes.Script) -> None:
        self.builtins = {cell.cell: (cell.module, cell.name) for cell in script.builtins}
        self.values: dict[int, nodes.Expr] = {}
        self.names: dict[int, tuple[str, Span]] = {}
        self.define(script.statements)
        for name, cell in script.definitions.items():
            if cell in self.values:
                self.names[cell] = name, self.values[cell].span
        self.written: set[tuple[int, int]] = set()
        """The parameters that are written to."""
        self.writes: set[tuple[int, Span]] = set()

    def define(self, statements: tuple[nodes.Statement, ...]) -> None:
        """Take note of what each cell holds, those of modules by the name of the export."""
        for statement in statements:
            match statement:
                case nodes.Define(cell=cell, value=value):
                    self.values[cell] = value
                case nodes.DefineRec(cells=cells, functions=functions):
                    self.values.update(zip(cells, functions, strict=True))
                case nodes.DefineModule(name=name, items=items, exports=exports):
                    self.define(items)
                    for label, cell in exports:
                        if cell in self.values:
                            self.names[cell] = f"{name}.{label}", self.values[cell].span

    def reach(self, handler: int) -> None:
        """Look at every function that the handler may reach, until nothing new is known of their parameters."""
        reached, waiting = {handler}, [handler]
        while waiting:
            for part in walk(self.values[waiting.pop()]):
                if isinstance(part, nodes.Global) and part.cell in self.values and part.cell not in reached:
                    reached.add(part.cell)
                    waiting.append(part.cell)
        known = -1
        while known != len(self.written) + len(self.writes):
            known = len(self.written) + len(self.writes)
            for cell in reached:
                Scan(self, {}, is_inside=False).roots(self.values[cell])


class Scan:
    """Goes through one body, with the roots of the values in its frame."""

    def __init__(self, search: Search, frame: dict[int, Roots], *, is_inside: bool) -> None:
        """`is_inside` a function; what the top level itself does happens each time that an instance begins."""
        self.search = search
        self.frame = frame
        self.is_inside = is_inside
        self.functions: dict[int, nodes.Lambda] = {}

    def roots(self, expr: nodes.Expr) -> Roots:
        """Where the value of an expression comes from; on the way, what it writes is noted."""
        look = LOOKS.get(type(expr))
        if look is not None:
            return look(self, expr)
        for part in children(expr):
            self.roots(part)
        return NOTHING

    def write(self, roots: Roots, span: Span) -> None:
        for origin in roots if self.is_inside else NOTHING:
            if isinstance(origin, tuple):
                self.search.written.add(origin)
            else:
                self.search.writes.add((origin, span))

    def of_global(self, expr: nodes.Global) -> Roots:
        return NOTHING if expr.cell in self.search.builtins else frozenset([expr.cell])

    def of_local(self, expr: nodes.Local) -> Roots:
        return self.frame.get(expr.slot, NOTHING)

    def of_part(self, expr: Any) -> Roots:
        """A field, an element, or the content of a ref is part of what the whole is part of."""
        whole, *others = children(expr)
        for other in others:
            self.roots(other)
        return self.roots(whole)

    def of_write(self, expr: Any) -> Roots:
        target, *others = children(expr)
        self.write(self.roots(target), expr.span)
        for other in others:
            self.roots(other)
        return NOTHING

    def of_let(self, expr: nodes.Let) -> Roots:
        self.frame[expr.slot] = self.roots(expr.value)
        if isinstance(expr.value, nodes.Lambda):
            self.functions[expr.slot] = expr.value
        return self.roots(expr.body)

    def of_let_rec(self, expr: nodes.LetRec) -> Roots:
        self.functions.update(zip(expr.slots, expr.functions, strict=True))
        for function in expr.functions:
            self.roots(function)
        return self.roots(expr.body)

    def of_if(self, expr: nodes.If) -> Roots:
        self.roots(expr.condition)
        return self.roots(expr.then) | self.roots(expr.otherwise)

    def of_seq(self, expr: nodes.Seq) -> Roots:
        self.roots(expr.first)
        return self.roots(expr.second)

    def of_match(self, expr: nodes.Match) -> Roots:
        whole = self.roots(expr.scrutinee)
        found = NOTHING
        for arm in expr.arms:
            for slot in bound(arm.pattern):
                self.frame[slot] = whole
            found |= self.roots(arm.body)
        return found

    def of_lambda(self, expr: nodes.Lambda) -> Roots:
        frame: dict[int, Roots] = {slot: frozenset([(id(expr), slot)]) for slot in range(expr.arity)}
        inner = Scan(self.search, frame, is_inside=True)
        for outside, inside in expr.captures:
            frame[inside] = self.frame.get(outside, NOTHING)
            if outside in self.functions:
                inner.functions[inside] = self.functions[outside]
        inner.roots(expr.body)
        return NOTHING

    def of_call(self, expr: nodes.Call) -> Roots:
        self.roots(expr.function)
        roots = [self.roots(arg) for arg in expr.args]
        name = self.search.builtins.get(expr.function.cell) if isinstance(expr.function, nodes.Global) else None
        if name in WRITERS and roots:
            self.write(roots[0], expr.span)
        function = self.function_of(expr.function)
        for position, origins in enumerate(roots):
            if function is not None and (id(function), position) in self.search.written:
                self.write(origins, expr.span)
        return roots[0] if name in READERS and roots else NOTHING

    def function_of(self, expr: nodes.Expr) -> nodes.Lambda | None:
        """The function of the script that is called, where its name says which."""
        match expr:
            case nodes.Global(cell=cell):
                value = self.search.values.get(cell)
            case nodes.Local(slot=slot):
                value = self.functions.get(slot)
            case _:
                value = None
        return value if isinstance(value, nodes.Lambda) else None


LOOKS: Mapping[type, Callable[[Scan, Any], Roots]] = {
    nodes.Global: Scan.of_global,
    nodes.Local: Scan.of_local,
    nodes.Get: Scan.of_part,
    nodes.Index: Scan.of_part,
    nodes.Deref: Scan.of_part,
    nodes.SetIndex: Scan.of_write,
    nodes.SetRef: Scan.of_write,
    nodes.Let: Scan.of_let,
    nodes.LetRec: Scan.of_let_rec,
    nodes.If: Scan.of_if,
    nodes.Seq: Scan.of_seq,
    nodes.Match: Scan.of_match,
    nodes.Lambda: Scan.of_lambda,
    nodes.Call: Scan.of_call,
}
"""What each kind of expression gives; of the others only the parts are looked at."""


def children(node: Any) -> Iterator[Any]:
    """The parts of a node that are nodes, in order."""
    for name in type(node).__match_args__:
        part = getattr(node, name)
        for each in part if type(part) is tuple else (part,):
            if type(each) in INNER or type(each) in LEAVES:
                yield each


LEAVES = {nodes.Local, nodes.Global, nodes.Constant}


def walk(node: Any) -> Iterator[Any]:
    """A node and everything inside it."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += children(part)


def bound(pattern: nodes.Pattern) -> Iterator[int]:
    """The slots that a pattern binds."""
    waiting = [pattern]
    while waiting:
        match waiting.pop():
            case nodes.Bind(slot=slot):
                yield slot
            case nodes.Tagged(args=args):
                waiting += args
            case nodes.Fields(patterns=patterns):
                waiting += patterns
