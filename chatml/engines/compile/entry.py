"""Entries: a function of the script as a host calls it, with the host's own data.

An entry tests that its arguments are plain data of their types. If they are, it runs the body of the function in
place, on the parts that the test has found; builtins that know how to read plain JSON are given it as it is. All else
takes the general way: values are made of the arguments, the function is called, and data are made of its result. Both
ways come to the same.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from chatml.border.python import SCALARS, from_json, is_plain_json
from chatml.core import nodes
from chatml.engines.compile.body import RETURN, Body, Place, Tables, Target, TooDeep, Unit
from chatml.engines.compile.code import Code, Kind, Spot
from chatml.engines.compile.compiled import Compiled
from chatml.engines.compile.expressions import EXPRESSIONS, apply
from chatml.engines.compile.hosts import EscapeError, Fit, HostData, UnfitError
from chatml.engines.compile.inline import Template
from chatml.engines.compile.python import LOAD, Block, assign, both, call, const, define, located, name
from chatml.engines.compile.statements import STATEMENTS
from chatml.engines.compile.tracebacks import translate
from chatml.engines.engine import SinkError
from chatml.records import contents, frozen
from chatml.surfaces.model import PARAMETERS
from chatml.types.model import Type
from chatml.values.arithmetic import int_argument
from chatml.values.limits import Left
from chatml.values.model import Value
from chatml.values.surrogates import surrogate_problem

ENTRY = "<entry>"
"""The file name of entries: they are no functions of the script."""

OUTGOING = (
    "a if type(a) is tuple and (len(a) == 1 or len(a) == 2 and type(a[1]) in scalars) or type(a) in scalars"
    " else outgoing(a)"
)
"""What leaves as it is: scalars, and variants that hold one or none."""

RESULT = "result"

TOOLS: dict[str, Any] = {
    "KeyError": KeyError,
    "failures": (Exception, SinkError),
    "str": str,
    "bool": bool,
    "list": list,
    "scalars": SCALARS,
    "from_json": from_json,
    "is_plain_json": is_plain_json,
    "int_argument": int_argument,
    "is_text": lambda text: surrogate_problem(text) is None,
}
"""What entries name besides what generated code does."""


@frozen(eq=False)
class Ways:
    """What an entry leaves to others: the general way, a fresh budget and the one before it, a call with values, the
    data of a result.
    """

    general: Callable[[tuple[Any, ...]], Any]
    renew: Callable[[], Left]
    restore: Callable[[Left], None]
    apply: Callable[[list[Value]], Value]
    outgoing: Callable[[Value], Any]


def generate_entry(code: Code, cell: int, params: Sequence[Type], json: Type, *, has_json: bool) -> Code | None:
    """The entry of the function in a cell of a script. `has_json` says that there may be values of type `json` in its
    result.

    None if the parameters are of types whose values are always made anew.
    """
    try:
        fits = [Fit(number, type, json) for number, type in enumerate(params)]
    except UnfitError:
        return None
    names = [fit.data.variable for fit in fits]
    condition = both([condition for fit in fits for condition in fit.conditions])
    general = ast.Return(call("general", ast.Tuple([name(variable) for variable in names], LOAD)))
    leave = ast.Return(call("outgoing", name(RESULT)) if has_json else Template(OUTGOING).fill([name(RESULT)]))
    block: Block = [
        attempt([assign("fits", condition)], "KeyError", [assign("fits", const(False))]),
        ast.If(ast.UnaryOp(ast.Not(), name("fits")), [general], []),
    ]
    body = in_place(code, cell, [fit.data for fit in fits], has_json)
    spots, line = code.spots, 1
    helpers: Block = []
    run: Block
    if body is None:
        values = ast.List([fit.data.value for fit in fits], LOAD)
        run = [assign(RESULT, call("apply", values)), leave]
    else:
        spots, line, helpers = tuple(body.unit.spots), body.line, body.helpers.definitions
        failed = assign("failure", call("explain", name("error")))
        run = [attempt(body.block, "failures", [failed], [leave]), ast.Raise(name("failure"))]
    if code.basis.bounded:
        run = [assign("left", call("renew")), ast.Try(run, [], [], [ast.Expr(call("restore", name("left")))])]
    block += run
    given = [*Ways.__match_args__, "explain", *TOOLS]
    make = define("make", given, [*helpers, define("entry", names, block, line), ast.Return(name("entry"))], 1)
    compiled = compile(located(ast.Module([make], [])), ENTRY, "exec", dont_inherit=True)
    return Code((compiled,), spots, frozenset(), frozenset(), code.basis)


def attempt(block: Block, kinds: str, instead: Block, otherwise: Sequence[ast.stmt] = ()) -> ast.stmt:
    return ast.Try(block, [ast.ExceptHandler(name(kinds), "error", instead)], list(otherwise), [])


def in_place(code: Code, cell: int, data: Sequence[HostData], has_json: bool) -> EntryBody | None:
    """The body of a function, which leaves its result in `RESULT`; None if it must be called, for want of room on the
    stack or because it makes functions.
    """
    facts = code.basis.facts
    function = facts.cells.get(cell)
    if function is None or function not in facts.shallow:
        return None
    kept = {part.parameter for part in data}
    while True:
        unit = Unit(code.basis, TABLES)
        unit.spots += code.spots[len(unit.spots) :]
        body = EntryBody(unit, function, Helpers(), has_json=has_json)
        for slot, part in enumerate(data):
            if part.is_scalar:
                body.places[slot] = Place(part.variable)
            elif slot in kept:
                body.data[slot] = part
            else:  # The script needs a value of it.
                body.emit(assign(body.variable(slot), part.value))
        try:
            body.into(function.body, RESULT)
        except EscapeError as escape:
            kept.remove(escape.data.parameter)
        except (UnfitError, TooDeep):
            return None
        else:
            return body


class Helpers:
    """The functions that an entry calls with data of the host, and which of their parameters are what data."""

    def __init__(self) -> None:
        self.names: dict[tuple[nodes.Lambda, tuple[HostData | None, ...]], str] = {}
        self.definitions: Block = []


class EntryBody(Body):
    """The body of a function, some of whose parameters are data of the host."""

    def __init__(self, unit: Unit, function: nodes.Lambda, helpers: Helpers, *, has_json: bool = True) -> None:
        super().__init__(unit, None, {})
        spot = Spot(Kind.FUNCTION, function.span, function.name)
        self.line = unit.line(spot)
        self.helpers = helpers
        self.has_json = has_json
        self.data: dict[int, HostData] = {}
        if unit.bounded:
            self.emit(self.tick(spot))

    def helper(self, function: nodes.Lambda, given: Sequence[HostData | None]) -> str:
        """Another function of the script with a body that takes data of the host in place of some values."""
        known = self.helpers.names.get((function, tuple(given)))
        if known is not None:
            return known
        within, self.unit.within = self.unit.within, None
        body = EntryBody(self.unit, function, self.helpers)
        params = [body.variable(slot) for slot, part in enumerate(given) if part is None]
        body.data = {slot: part for slot, part in enumerate(given) if part is not None}
        body.into(function.body, RETURN)
        self.unit.within = within
        made = self.helpers.names[function, tuple(given)] = self.unit.fresh("h")
        self.helpers.definitions.append(define(made, [*params, *variables(given)], body.block, body.line))
        return made

    def put(self, value: ast.expr, target: Target) -> None:
        """A result that the script writes out leaves at once."""
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        if target == RESULT and not self.has_json and all(isinstance(part, ast.Constant) for part in parts):
            self.emit(ast.Return(value))
        else:
            super().put(value, target)

    def functions(self, group: Sequence[tuple[str, nodes.Lambda]], *, local: bool) -> None:
        """A function that is made here would outlive the entry, whose lines nobody else can explain."""
        raise UnfitError

    def in_place(self, function: nodes.Lambda | None, params: Sequence[str]) -> EntryBody:
        inner = super().in_place(function, params)
        captures = () if function is None else function.captures
        inner.data = {slot: self.data[outer] for outer, slot in captures if outer in self.data}
        return inner

    def data_of(self, node: nodes.Expr) -> HostData | None:
        """The data of the host that an expression stands for."""
        match node:
            case nodes.Local(slot=slot):
                return self.data.get(slot)
            case nodes.Get(record=record, label=label):
                whole = self.data_of(record)
                return None if whole is None else whole.fields.get(label)
        return None


def read(body: EntryBody, node: nodes.Local | nodes.Get) -> ast.expr:
    """A variable or a field, where a value is needed."""
    data = body.data_of(node)
    if data is None:
        return EXPRESSIONS[type(node)](body, node)
    if not data.is_scalar:
        raise EscapeError(data)
    return data.value


def apply_to_data(body: EntryBody, node: nodes.Call) -> ast.expr:
    """A call; data of the host go into the expression of a builtin, which names those of their parts that it reads."""
    given = [body.data_of(arg) for arg in node.args]
    data = [part for part in given if part is not None and not part.is_scalar]
    if not data:
        return apply(body, node)
    cell = node.function.cell if isinstance(node.function, nodes.Global) else -1
    function = body.unit.facts.cells.get(cell)
    if function in body.unit.facts.shallow:
        return apply_helper(body, node, function, [part if part in data else None for part in given])
    builtin = body.unit.builtins.get(cell)
    row = None if builtin is None else builtin.row
    expression = None if row is None else row.on_data or row.inline
    if builtin is None or row is None or expression is None:
        raise EscapeError(data[0])
    values = iter(body.operands([arg for arg, part in zip(node.args, given, strict=True) if part not in data]))
    args = [name(part.variable) if part is not None and part in data else next(values) for part in given]
    template = DataTemplate(expression, given, reads_json=row.on_data is not None)
    filled = template.fill([arg if body.stable(arg) else body.temporary(arg) for arg in args])
    return body.at(filled, Spot(Kind.IN_PLACE, node.span, builtin.name, builtin=True))


def apply_helper(
    body: EntryBody, node: nodes.Call, function: nodes.Lambda, given: Sequence[HostData | None]
) -> ast.expr:
    """A call of another function of the script with data of the host among its arguments."""
    helper = body.helper(function, given)
    values = body.operands([arg for arg, part in zip(node.args, given, strict=True) if part is None])
    found = [name(variable) for variable in variables(given)]
    return body.at(call(helper, *values, *found), Spot(Kind.CALL, node.span))


def variables(given: Sequence[HostData | None]) -> list[str]:
    """The variables that hold the parts of some data."""
    found: dict[str, None] = {}
    todo = [part for part in given if part is not None]
    for part in todo:
        todo += part.fields.values()
        if not part.fields:
            found[part.variable] = None
    return list(found)


class DataTemplate(Template):
    """The expression of a builtin that is given data of the host: where it names a part of them, it gets the part."""

    def __init__(self, text: str, given: Sequence[HostData | None], *, reads_json: bool) -> None:
        super().__init__(text)
        self.given = dict(zip(PARAMETERS, given, strict=False))
        self.reads_json = reads_json

    def visit(self, node: ast.AST) -> Any:
        data = self.part(node)
        if data is None:
            return super().visit(node)
        if data.is_scalar or (data.is_json and self.reads_json):
            return name(data.variable)
        raise EscapeError(data)

    def part(self, node: ast.AST) -> HostData | None:
        """The data that a part of the expression stands for."""
        match node:
            case ast.Name(parameter):
                return self.given.get(parameter)
            case ast.Subscript(ast.Name(parameter), ast.Constant(str(label))):
                whole = self.given.get(parameter)
                return None if whole is None else whole.fields.get(label)
        return None


TABLES = Tables(
    {**EXPRESSIONS, nodes.Local: read, nodes.Get: read, nodes.Call: apply_to_data},
    {kind: lower for kind, lower in STATEMENTS.items() if kind is not nodes.Call},
)
"""Statements know calls only for the sake of the last one of a function, and that returns to the entry here."""


def link_entry(engine: Compiled, code: Code, label: str, ways: Ways) -> Callable[..., Any]:
    """The entry as a Python function, under the name of the function of the script."""

    def explain(error: Exception | SinkError) -> Exception:
        if isinstance(error, SinkError):
            return error.error
        return translate(error, code, engine.namespace, engine.budget)

    made: dict[str, Any] = {}
    exec(code.parts[0], engine.namespace, made)
    entry: Callable[..., Any] = made["make"](*contents(ways), explain, *TOOLS.values())
    entry.__name__ = entry.__qualname__ = label
    return entry
