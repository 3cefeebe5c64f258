"""What can be known of a script before code is generated for it.

One walk over the core finds which function a call reaches, whether the call ends its caller (a tail call), which refs
are mere local variables, and which functions are written in place, as the body of a builtin's loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chatml.core import nodes
from chatml.engines.compile.code import TAKES, Builtin
from chatml.engines.compile.facts import Facts
from chatml.engines.compile.parts import PARTS
from chatml.records import mutable

SHALLOW = 50
"""So many calls inside each other find room on any host's stack."""

BOUNCED = 3
"""So many Python frames are between a call of a bouncing function and the function that it ends in a call of."""
PASSED = 5
"""So many are between the call of a builtin that is used as a value and the function that the builtin calls."""
MOST = 8
"""More room than this for each call would take too much memory before a recursion without an end fails."""

Graph = dict[nodes.Lambda, set[nodes.Lambda]]


@mutable
class Calls:
    """Whom a function (or the top level) calls, and whether it calls functions that nobody knows beforehand."""

    inner: set[nodes.Lambda]
    tail: set[nodes.Lambda]
    unknown: bool = False
    unknown_tail: bool = False


def analyse(script: nodes.Script, builtins: Mapping[int, Builtin]) -> Facts:
    """The facts of a script, whose cells hold these builtins."""
    walk = _Walk(builtins)
    walk.statements(script.statements)
    calls = walk.calls
    looping = {function for function, found in calls.items() if function in found.tail}
    tails = {function: found.tail - {function} for function, found in calls.items()}
    bouncing = endless(tails, {function for function, found in calls.items() if found.unknown_tail})
    everywhere = {function: found.inner | found.tail for function, found in calls.items()}
    top = walk.top
    unknown = {function for function, found in calls.items() if found.unknown or found.unknown_tail}
    shallow = {function for function, height in heights(everywhere, unknown).items() if height <= SHALLOW}
    recursive = top.unknown or top.unknown_tail or len(shallow) < len(everywhere)
    frames = frames_per_call(everywhere, unknown, tails, bouncing, passed=walk.passed) if recursive else 1
    return Facts(walk.cells, looping, bouncing, walk.variables, walk.in_place, shallow, recursive, frames)


def frames_per_call(
    graph: Graph, unknown: set[nodes.Lambda], tails: Graph, bouncing: set[nodes.Lambda], *, passed: bool
) -> int:
    """The most frames of Python that a call takes which a recursion can repeat."""
    again = endless(graph, unknown)
    plain = {
        function: reached & again - bouncing for function, reached in tails.items() if function in again - bouncing
    }
    frames = 1 + max(heights(plain, set()).values(), default=0)
    return min(frames + BOUNCED * bool(again & bouncing) + PASSED * passed, MOST)


def endless(graph: Graph, seeds: set[nodes.Lambda]) -> set[nodes.Lambda]:
    """The nodes from which a path leads to a seed, or round and round."""
    return graph.keys() - heights(graph, seeds).keys()


def heights(graph: Graph, seeds: set[nodes.Lambda]) -> dict[nodes.Lambda, int]:
    """The length of the longest path from each node, but for the endless ones."""
    left = {node: len(reached) + (node in seeds) for node, reached in graph.items()}
    sources: Graph = {node: set() for node in graph}
    for node, reached in graph.items():
        for target in reached:
            sources[target].add(node)
    found = {node: 0 for node, ways in left.items() if not ways}
    finished = list(found)
    while finished:
        node = finished.pop()
        for source in sources[node]:
            left[source] -= 1
            found[source] = max(found.get(source, 0), found[node] + 1)
            if not left[source]:
                finished.append(source)
    return {node: height for node, height in found.items() if not left[node]}


class _Walk:
    """Visits every expression once; `slots` says which slots of the function at hand hold a known function."""

    def __init__(self, builtins: Mapping[int, Builtin]) -> None:
        self.builtins = builtins
        self.cells: dict[int, nodes.Lambda] = {}
        self.calls: dict[nodes.Lambda, Calls] = {}
        self.top = Calls(set(), set())
        self.here = self.top
        self.slots: dict[int, nodes.Lambda] = {}
        self.in_place: dict[nodes.Call, tuple[nodes.Lambda, tuple[str, ...]]] = {}
        self.variables: set[nodes.Let] = set()
        self.candidates: dict[int, nodes.Let] = {}
        self.passed = False
        """Whether a builtin that may call functions is called other than by a loop in place."""

    def statements(self, statements: tuple[nodes.Statement, ...]) -> None:
        for statement in statements:
            match statement:
                case nodes.Define(cell=cell, value=value):
                    if isinstance(value, nodes.Lambda):
                        self.cells[cell] = value
                    self.visit(value)
                case nodes.DefineRec(cells=cells, functions=functions):
                    self.cells.update(zip(cells, functions, strict=True))
                    for function in functions:
                        self.function(function)
                case nodes.DefineModule(items=items):
                    self.statements(items)
                case nodes.Evaluate(value=value):
                    self.visit(value)

    def visit(self, node: nodes.Expr, tail: bool = False) -> None:
        handler = HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node, tail)
            return
        for child in PARTS[type(node)](node):
            self.visit(child)

    def function(self, function: nodes.Lambda) -> None:
        here, slots, candidates = self.here, self.slots, self.candidates
        self.here = Calls(set(), set())
        self.calls[function] = self.here
        self.slots = {inner: slots[outer] for outer, inner in function.captures if outer in slots}
        self.candidates = {}
        for outer, _ in function.captures:
            if outer in candidates:
                self.variables.discard(candidates[outer])
        self.visit(function.body, tail=True)
        self.here, self.slots, self.candidates = here, slots, candidates

    def body_of_loop(self, function: nodes.Lambda) -> None:
        """A function that is written in place: its slots hold what those of the function around it do."""
        slots, candidates = self.slots, self.candidates
        self.slots = {inner: slots[outer] for outer, inner in function.captures if outer in slots}
        self.candidates = {inner: candidates[outer] for outer, inner in function.captures if outer in candidates}
        self.visit(function.body)
        self.slots, self.candidates = slots, candidates

    def nested(self, node: nodes.Lambda, tail: bool) -> None:
        self.here.inner.add(node)
        self.function(node)

    def mention(self, node: nodes.Local | nodes.Global, tail: bool) -> None:
        """A use as a value: a function may be called by whoever gets it, and a ref goes elsewhere."""
        known, builtin = self.callee(node), self.builtin(node)
        if known is not None:
            self.here.inner.add(known)
        if builtin is not None and builtin.calls:
            self.passed = True
        if isinstance(node, nodes.Local) and node.slot in self.candidates:
            self.variables.discard(self.candidates[node.slot])

    def deref(self, node: nodes.Deref, tail: bool) -> None:
        if not isinstance(node.ref, nodes.Local):
            self.visit(node.ref)

    def set_ref(self, node: nodes.SetRef, tail: bool) -> None:
        if not isinstance(node.ref, nodes.Local):
            self.visit(node.ref)
        self.visit(node.value)

    def let(self, node: nodes.Let, tail: bool) -> None:
        self.visit(node.value)
        if isinstance(node.value, nodes.Lambda):
            self.slots[node.slot] = node.value
        elif isinstance(node.value, nodes.NewRef):
            self.candidates[node.slot] = node
            self.variables.add(node)
        self.visit(node.body, tail)

    def let_rec(self, node: nodes.LetRec, tail: bool) -> None:
        self.slots.update(zip(node.slots, node.functions, strict=True))
        for function in node.functions:
            self.function(function)
        self.visit(node.body, tail)

    def call(self, node: nodes.Call, tail: bool) -> None:
        known = self.callee(node.function)
        if known is not None:
            (self.here.tail if tail else self.here.inner).add(known)
        elif (builtin := self.builtin(node.function)) is not None:
            self.call_builtin(node, builtin)
            return
        else:
            self.visit(node.function)
            self.here.unknown_tail |= tail
            self.here.unknown |= not tail
        for arg in node.args:
            self.visit(arg)

    def call_builtin(self, node: nodes.Call, builtin: Builtin) -> None:
        args: Sequence[nodes.Expr] = node.args
        if not all(self.is_mentioned(args[index]) for index in builtin.callbacks if index < len(args)):
            self.here.unknown = True
        loop = None if builtin.row is None else builtin.row.loop
        if loop is None:
            self.passed |= builtin.calls
        elif isinstance(function := args[-1], nodes.Lambda) and function.arity == len(TAKES[loop]):
            self.in_place[node] = function, TAKES[loop]
            args = args[:-1]
        for arg in args:
            self.visit(arg)
        if node in self.in_place:
            self.body_of_loop(self.in_place[node][0])

    def is_mentioned(self, function: nodes.Expr) -> bool:
        """Whether a function is named or written where it is used, so that `mention` or `nested` counts its calls."""
        return (
            isinstance(function, nodes.Lambda)
            or self.callee(function) is not None
            or self.builtin(function) is not None
        )

    def builtin(self, function: nodes.Expr) -> Builtin | None:
        return self.builtins.get(function.cell) if isinstance(function, nodes.Global) else None

    def callee(self, function: nodes.Expr) -> nodes.Lambda | None:
        match function:
            case nodes.Global(cell=cell):
                return self.cells.get(cell)
            case nodes.Local(slot=slot):
                return self.slots.get(slot)
        return None

    def conditional(self, node: nodes.If, tail: bool) -> None:
        self.visit(node.condition)
        self.visit(node.then, tail)
        self.visit(node.otherwise, tail)

    def shortcut(self, node: nodes.And | nodes.Or, tail: bool) -> None:
        self.visit(node.left)
        self.visit(node.right, tail)

    def seq(self, node: nodes.Seq, tail: bool) -> None:
        self.visit(node.first)
        self.visit(node.second, tail)

    def match(self, node: nodes.Match, tail: bool) -> None:
        self.visit(node.scrutinee)
        for arm in node.arms:
            self.visit(arm.body, tail)


HANDLERS: dict[type, Callable[[_Walk, Any, bool], None]] = {
    nodes.Local: _Walk.mention,
    nodes.Global: _Walk.mention,
    nodes.Lambda: _Walk.nested,
    nodes.Deref: _Walk.deref,
    nodes.SetRef: _Walk.set_ref,
    nodes.Let: _Walk.let,
    nodes.LetRec: _Walk.let_rec,
    nodes.Call: _Walk.call,
    nodes.If: _Walk.conditional,
    nodes.And: _Walk.shortcut,
    nodes.Or: _Walk.shortcut,
    nodes.Seq: _Walk.seq,
    nodes.Match: _Walk.match,
}
