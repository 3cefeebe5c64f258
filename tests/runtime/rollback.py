"""Generated scripts that write everywhere, for the properties of rollback (X-20)."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chatml.pipeline import EngineName, Instance
from chatml.surfaces.ui import UI_MODERATOR
from chatml.values.limits import Limits
from chatml_runtime.script.errors import OperationFailed
from chatml_runtime.script.operations import OpContext
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.scripts import compile_script
from chatml_runtime.script.standard import Handlers
from chatml_runtime.script.tracing import trace_script

PRELUDE = """
let counter = ref(0)
let shared = [7, 8, 9]
let grid = [[1, 2], [3, 4]]
let cells = [ref(0), ref(1)]
let boxed = ref([5, 6])
let nested = { inner = { rows = [[1], [2]]; box = ref({ n = 0; xs = [0] }) } }
let table = Hashtbl.create()
let tables = [Hashtbl.create()]
Hashtbl.set(table, "a", 1)
Hashtbl.set(tables[0], "a", [1])
let kept = !table
let initial_state = { xs = shared; grid = [[0, 1], [2, 3]]; box = ref(0); tags = [`One(1, [0]), `Two([0])]; n = 0 }
let observe = fun st ->
  to_string([to_string(!counter), to_string(shared), to_string(grid), to_string(Array.map(cells, fun c -> !c)),
    to_string(!boxed), to_string(nested.inner.rows), to_string(!(nested.inner.box)), to_string(!table),
    to_string(!(tables[0])), to_string(kept), to_string(st.xs), to_string(st.grid), to_string(!(st.box)),
    to_string(st.tags), to_string(st.n)])
"""
"""Definitions with arrays, refs and tables inside each other, and a function that shows all of them."""

WRITES = [
    "counter := !counter + {k}",
    "shared[{i}] <- {k}",
    "st.xs[{i}] <- {k}",
    "grid[{b}][{b}] <- {k}",
    "grid[{b}] <- [{k}, {k}]",
    "cells[{b}] := {k}",
    "cells[{b}] <- ref({k})",
    "boxed := [{k}, {k}]",
    "(!boxed)[{b}] <- {k}",
    "nested.inner.rows[{b}][0] <- {k}",
    "nested.inner.rows[{b}] <- [{k}, {k}]",
    "nested.inner.box := {{ n = {k}; xs = [{k}] }}",
    "(!(nested.inner.box)).xs[0] <- {k}",
    'Hashtbl.set(table, "{key}", {k})',
    'Hashtbl.remove(table, "{key}")',
    'Hashtbl.set(tables[0], "{key}", [{k}])',
    'kept[0] <- {{ key = "a"; value = {k} }}',
    "Array.set(shared, {i}, {k})",
    "Array.fill(st.grid[{b}], {k})",
    "Array.swap(st.xs, 0, {i})",
    "Array.reverse_in_place(st.grid)",
    "Array.reverse_in_place(shared)",
    "st.box := swap_ref(counter, {k})",
    "st.grid[{b}][{b}] <- {k}",
    "(match st.tags[{b}] with | `One(_, xs) -> xs[0] <- {k} | `Two(xs) -> xs[0] <- {k})",
    "st.tags[{b}] <- `Two([{k}])",
    "Array.iter(shared, fun x -> counter := !counter + x)",
    "Array.iteri(shared, fun j x -> st.xs[j] <- x + {k})",
    "(let i = ref(0) in while !i < 3 do shared[!i] <- !i + {k}; i := !i + 1 done)",
]
"""Statements that write to something; `i` is below 3, `b` below 2."""

FAILURES = [
    'Task.fail("no")',
    "Task.pure({ st with n = 1 / 0 })",
    "Task.pure({ st with n = [1][5] })",
    'fail("hard")',
    'let* r = Tool.call("broken", `Null) in Task.pure(st)',
    "let* () = Runtime.request_turn() in Task.pure(st)",
    "let rec spin x = spin(x + 1) in Task.pure({ st with n = spin(0) })",
    'Task.catch(Task.fail("caught"), fun m -> Task.fail(m ++ " again"))',
]
"""Tasks that fail, each in another way."""

writes = st.builds(
    lambda template, i, b, k, key: template.format(i=i, b=b, k=k, key=key),
    st.sampled_from(WRITES),
    st.integers(0, 2),
    st.integers(0, 1),
    st.integers(10, 99),
    st.sampled_from("abc"),
)
engines: st.SearchStrategy[EngineName] = st.sampled_from(["compiled", "walk"])
Part = tuple[list[str], str]
parts = st.lists(
    st.tuples(st.lists(writes, min_size=1, max_size=4), st.sampled_from(["effect", "emit", "catch", "call"])),
    min_size=1,
    max_size=4,
)
"""Stretches of writes, each with what the handler does after it."""

SEAMS = {
    "effect": 'let* () = Turn.prepend_system("x") in',
    "emit": "let* () = Runtime.emit(`Seen(!counter)) in",
    "call": 'let* r = Tool.call("fine", `Null) in',
    "ask": 'let* answer = Approval.ask_text("go on?") in',
}
CAUGHT = 'let* () = Task.catch(Task.bind(Task.pure(0), fun z -> {}; Task.fail("in")), fun m -> Task.pure(())) in'
"""A failure after some writes, caught: the writes stay (X-20)."""


def body(parts: list[Part], end: str) -> str:
    """A handler's body: writes and what comes after each stretch of them, then the end."""
    lines: list[str] = []
    for stretch, seam in parts:
        lines += [f"{write};" for write in stretch]
        lines.append(CAUGHT.format("; ".join(stretch)) if seam == "catch" else SEAMS[seam])
    return "\n    ".join([*lines, end])


def asking(parts: list[Part], position: int) -> list[Part]:
    """The same parts with a question among them."""
    return [*parts[:position], ([], "ask"), *parts[position:]]


class Subject:
    """A session whose `` `Run `` has a generated body, and which can show everything that the script can reach."""

    def __init__(self, run: str, engine: EngineName = "compiled", *, traced: bool = False) -> None:
        handler = f"let on_event = fun ctx st ev ->\n  match ev with\n  | `Run -> ({run})\n  | _ -> Task.pure(st)\n"
        self.source = PRELUDE + handler
        script = compile_script(self.source, surface=UI_MODERATOR, engine=engine)
        if traced:
            script, _ = trace_script(script)
        self.instance: Instance = script.program.run(journaled=True, engine=engine)

        def tool_call(context: OpContext, name: str, args: Any) -> Any:
            if name == "broken":
                raise OperationFailed("broken")
            return ("Ok", args)

        operations = {op.name: op for op in OpRegistry.standard(Handlers(tool_call=tool_call))}
        self.session = script.session_class(
            self.instance, operations, self.instance["initial_state"], self.instance["on_event"]
        )

    def deliver(self) -> Any:
        return self.session.handle_event({"phase": "turn_start"}, ("Run",), limits=Limits(steps=20_000))

    def observe(self) -> tuple[Any, ...]:
        """Everything that the script and its host can see."""
        session = self.session
        return (
            self.instance.call("observe", session.state),
            session.committed_effects,
            session.queued_events,
            session.is_halted,
            session.pending,
        )
