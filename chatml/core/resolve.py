"""From syntax tree to core: every name becomes a slot or a cell (language.md section 4).

The script has been checked, so every name is known. Annotations and type declarations leave no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from chatml.core import nodes
from chatml.records import frozen, mutable
from chatml.syntax import ast

Names = Mapping[str, Collection[str] | None]
"""What a surface defines: under each name the labels that a module exports, or None for a global."""


@mutable
class Frame:
    """The slots of one function while its body is resolved."""

    parent: Frame | None
    captures: dict[Slot, int]
    size: int = 0

    def new_slot(self) -> int:
        self.size += 1
        return self.size - 1

    def slot_of(self, variable: Slot) -> int:
        """The slot that holds a variable here, capturing it through the functions in between if need be."""
        if variable.frame is self:
            return variable.index
        if variable not in self.captures:
            self.captures[variable] = self.new_slot()
        return self.captures[variable]


@frozen(eq=False)
class Slot:
    """A local variable: the frame that owns it, and its place there."""

    frame: Frame
    index: int


@mutable
class Cell:
    """A definition or a builtin. `exports` is set when it is a module whose body has ended."""

    index: int
    exports: Mapping[str, Cell] | None = None


Place = Slot | Cell


def resolve(
    script: ast.Script,
    builtins: Names,
    is_scalar: Callable[[ast.Binary], bool],
    absent: Collection[ast.FieldGet] = (),
) -> nodes.Script:
    """The core of a checked script.

    `is_scalar` tells of a `==` whether it compares numbers, strings, booleans or units. A field access among `absent`
    fails whenever it runs.
    """
    return Resolver(builtins).extend(script, is_scalar, absent)


@frozen(eq=False)
class Mark:
    """How far a resolver had come."""

    cells: int
    builtins: int
    defined: int
    surface: dict[str, Cell]
    definitions: dict[str, Cell]


class Resolver:
    """Resolves the statements of a script, all at once or some at a time."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.is_scalar: Callable[[ast.Binary], bool] = lambda comparison: False
        self.absent: Collection[ast.FieldGet] = ()
        self.frame = Frame(None, {})
        self.cells = 0
        self.builtins: list[nodes.BuiltinCell] = []
        self.surface: dict[str, Cell] = {}
        self.scope: dict[str, list[Place]] = {}
        self.defined: list[str] = []
        self.definitions: dict[str, Cell] = {}

    def extend(
        self, script: ast.Script, is_scalar: Callable[[ast.Binary], bool], absent: Collection[ast.FieldGet] = ()
    ) -> nodes.Script:
        """The core of further statements. Cells, builtins and definitions are those of all statements so far."""
        self.is_scalar, self.absent = is_scalar, absent
        self.frame = Frame(None, {})
        statements = self.items(script.statements, self.definitions)
        return nodes.Script(
            statements,
            self.cells,
            self.frame.size,
            tuple(self.builtins),
            {name: cell.index for name, cell in self.definitions.items()},
        )

    def mark(self) -> Mark:
        """Where the resolver stands, for `back`."""
        return Mark(self.cells, len(self.builtins), len(self.defined), self.surface.copy(), self.definitions.copy())

    def back(self, mark: Mark) -> None:
        """Forget every statement since the mark."""
        while len(self.defined) > mark.defined:
            self.unbind(self.defined.pop())
        del self.builtins[mark.builtins :]
        self.cells, self.surface, self.definitions = mark.cells, mark.surface.copy(), mark.definitions.copy()

    # Names

    def new_cell(self) -> Cell:
        self.cells += 1
        return Cell(self.cells - 1)

    def bind(self, name: str, place: Place) -> None:
        self.scope.setdefault(name, []).append(place)

    def unbind(self, name: str) -> None:
        self.scope[name].pop()

    def bind_slot(self, name: str) -> int:
        """A new slot of the current frame, in scope under a name."""
        index = self.frame.new_slot()
        self.bind(name, Slot(self.frame, index))
        return index

    def lookup(self, name: str) -> Place:
        places = self.scope.get(name)
        if places:
            return places[-1]
        if name not in self.surface:
            self.surface[name] = cell = self.builtin(name)
            labels = self.names[name]
            if labels is not None:
                cell.exports = {label: self.builtin(label, name) for label in labels}
        return self.surface[name]

    def builtin(self, name: str, module: str | None = None) -> Cell:
        cell = self.new_cell()
        self.builtins.append(nodes.BuiltinCell(cell.index, name, module))
        return cell

    # Statements

    def items(self, statements: tuple[ast.Statement, ...], definitions: dict[str, Cell]) -> tuple[nodes.Statement, ...]:
        """Statements in order; what they define is added to `definitions`."""
        resolved = [self.statement(statement, definitions) for statement in statements]
        return tuple([statement for statement in resolved if statement is not None])

    def statement(self, statement: ast.Statement, definitions: dict[str, Cell]) -> nodes.Statement | None:
        match statement:
            case ast.LetStatement(name=name, value=value):
                resolved = self.named(name.name, value)
                return nodes.Define(self.define(name.name, definitions).index, resolved)
            case ast.LetRecStatement(bindings=bindings):
                cells = tuple(self.define(binding.name.name, definitions).index for binding in bindings)
                return nodes.DefineRec(cells, self.functions(bindings))
            case ast.ModuleStatement(name=name, items=items):
                return self.module(name.name, items, definitions)
            case ast.OpenStatement(name=name):
                self.open(name.name)
                return None
            case ast.ExprStatement(value=value):
                return nodes.Evaluate(self.expr(value))
            case ast.TypeStatement():
                return None

    def define(self, name: str, definitions: dict[str, Cell]) -> Cell:
        """A new cell for what a statement defines."""
        cell = definitions[name] = self.new_cell()
        self.bring(name, cell)
        return cell

    def bring(self, name: str, place: Place) -> None:
        """Bring a name into scope until the enclosing module ends."""
        self.bind(name, place)
        self.defined.append(name)

    def module(self, name: str, items: tuple[ast.Statement, ...], definitions: dict[str, Cell]) -> nodes.DefineModule:
        cell = self.define(name, definitions)
        outer = len(self.defined)
        exports: dict[str, Cell] = {}
        statements = self.items(items, exports)
        cell.exports = exports
        while len(self.defined) > outer:
            self.unbind(self.defined.pop())
        labelled = tuple((label, export.index) for label, export in exports.items())
        return nodes.DefineModule(cell.index, name, statements, labelled)

    def open(self, name: str) -> None:
        """What `open` brings into scope are the module's own cells: nothing is left to do when the script runs."""
        for label, export in self.module_exports(name).items():
            self.bring(label, export)

    def module_exports(self, name: str) -> Mapping[str, Cell]:
        """The exports of the module of that name; none while its body runs, and none of any other value."""
        place = self.lookup(name)
        return (place.exports or {}) if isinstance(place, Cell) else {}

    # Functions

    def named(self, name: str, value: ast.Expr) -> nodes.Expr:
        """The value of a binding: a function takes the binding's name."""
        while isinstance(value, ast.Annot):
            value = value.value
        return self.function(name, value) if isinstance(value, ast.Lambda) else self.expr(value)

    def functions(self, bindings: tuple[ast.Binding, ...]) -> tuple[nodes.Lambda, ...]:
        functions = tuple(self.named(binding.name.name, binding.value) for binding in bindings)
        return tuple(function for function in functions if isinstance(function, nodes.Lambda))

    def function(self, name: str, function: ast.Lambda) -> nodes.Lambda:
        outer = self.frame
        self.frame = frame = Frame(outer, {})
        for param in function.params:
            self.bind_slot(param.name)
        body = self.expr(function.body)
        for param in function.params:
            self.unbind(param.name)
        self.frame = outer
        captures = tuple((outer.slot_of(variable), slot) for variable, slot in frame.captures.items())
        return nodes.Lambda(name, len(function.params), captures, frame.size, body, function.span)

    # Expressions

    def expr(self, expr: ast.Expr) -> nodes.Expr:
        resolve_it: Callable[[Resolver, Any], nodes.Expr] = EXPRESSIONS[type(expr)]
        return resolve_it(self, expr)

    def exprs(self, exprs: tuple[ast.Expr, ...]) -> tuple[nodes.Expr, ...]:
        return tuple([self.expr(expr) for expr in exprs])

    def constant(self, expr: ast.Int | ast.Float | ast.Bool | ast.String) -> nodes.Expr:
        return nodes.Constant(expr.value, expr.span)

    def unit(self, expr: ast.Unit) -> nodes.Expr:
        return nodes.Constant(None, expr.span)

    def name(self, expr: ast.Name) -> nodes.Expr:
        place = self.lookup(expr.name)
        if isinstance(place, Cell):
            return nodes.Global(place.index, expr.span)
        return nodes.Local(self.frame.slot_of(place), expr.span)

    def negate(self, expr: ast.Neg) -> nodes.Expr:
        return nodes.Negate(expr.op, self.expr(expr.operand), expr.span)

    def binary(self, expr: ast.Binary) -> nodes.Expr:
        left, right = self.expr(expr.left), self.expr(expr.right)
        if expr.op in ("==", "!="):
            return nodes.Equal(left, right, expr.op == "!=", self.is_scalar(expr), expr.span)
        if expr.op == "++":
            return nodes.Concat(left, right, expr.span)
        return nodes.Binary(expr.op, left, right, expr.span)

    def conjunction(self, expr: ast.And) -> nodes.Expr:
        return nodes.And(self.expr(expr.left), self.expr(expr.right), expr.span)

    def disjunction(self, expr: ast.Or) -> nodes.Expr:
        return nodes.Or(self.expr(expr.left), self.expr(expr.right), expr.span)

    def anonymous(self, expr: ast.Lambda) -> nodes.Expr:
        return self.function("fun", expr)

    def call(self, expr: ast.Call) -> nodes.Expr:
        return nodes.Call(self.expr(expr.function), self.exprs(expr.args), expr.span)

    def conditional(self, expr: ast.If) -> nodes.Expr:
        return nodes.If(self.expr(expr.condition), self.expr(expr.then), self.expr(expr.otherwise), expr.span)

    def loop(self, expr: ast.While) -> nodes.Expr:
        return nodes.While(self.expr(expr.condition), self.expr(expr.body), expr.span)

    def let(self, expr: ast.Let) -> nodes.Expr:
        value = self.named(expr.name.name, expr.value)
        slot = self.bind_slot(expr.name.name)
        body = self.expr(expr.body)
        self.unbind(expr.name.name)
        return nodes.Let(slot, value, body, expr.span)

    def let_rec(self, expr: ast.LetRec) -> nodes.Expr:
        names = [binding.name.name for binding in expr.bindings]
        slots = tuple([self.bind_slot(name) for name in names])
        functions = self.functions(expr.bindings)
        body = self.expr(expr.body)
        for name in names:
            self.unbind(name)
        return nodes.LetRec(slots, functions, body, expr.span)

    def match(self, expr: ast.Match) -> nodes.Expr:
        return nodes.Match(self.expr(expr.scrutinee), tuple([self.arm(arm) for arm in expr.arms]), expr.span)

    def arm(self, arm: ast.Arm) -> nodes.Arm:
        names: list[str] = []
        pattern = self.pattern(arm.pattern, names)
        body = self.expr(arm.body)
        for name in names:
            self.unbind(name)
        return nodes.Arm(pattern, body, arm.pattern.span)

    def pattern(self, pattern: ast.Pattern, names: list[str]) -> nodes.Pattern:
        """A pattern; its variables come into scope and are added to `names`."""
        match pattern:
            case ast.WildcardPattern():
                return nodes.Anything()
            case ast.NamePattern(name=name):
                names.append(name)
                return nodes.Bind(self.bind_slot(name))
            case ast.UnitPattern():
                return nodes.Exactly(None)
            case ast.VariantPattern(tag=tag, args=args):
                return nodes.Tagged(tag, tuple([self.pattern(arg, names) for arg in args]))
            case ast.RecordPattern(fields=fields, open=is_open):
                labels = tuple([field.label.name for field in fields])
                return nodes.Fields(labels, tuple([self.pattern(field.pattern, names) for field in fields]), is_open)
            case _:
                return nodes.Exactly(pattern.value)

    def record(self, expr: ast.RecordLit) -> nodes.Expr:
        return nodes.Record(*self.fields(expr.fields), expr.span)

    def fields(self, fields: tuple[ast.Field, ...]) -> tuple[tuple[str, ...], tuple[nodes.Expr, ...]]:
        return tuple([field.label.name for field in fields]), tuple([self.expr(field.value) for field in fields])

    def get(self, expr: ast.FieldGet) -> nodes.Expr:
        if isinstance(expr.record, ast.Name):
            export = self.module_exports(expr.record.name).get(expr.label.name)
            if export is not None:
                return nodes.Global(export.index, expr.span)
        record = self.expr(expr.record)
        if expr in self.absent:
            # The record may hold such a field all the same, that its type does not speak of: an empty one stands in.
            record = nodes.Seq(record, nodes.Record((), (), expr.span), expr.span)
        return nodes.Get(record, expr.label.name, expr.span)

    def update(self, expr: ast.RecordUpdate) -> nodes.Expr:
        return nodes.Update(self.expr(expr.record), *self.fields(expr.fields), expr.span)

    def variant(self, expr: ast.Variant) -> nodes.Expr:
        if not expr.args:
            return nodes.Constant((expr.tag,), expr.span)
        return nodes.Variant(expr.tag, self.exprs(expr.args), expr.span)

    def array(self, expr: ast.ArrayLit) -> nodes.Expr:
        return nodes.Array(self.exprs(expr.items), expr.span)

    def index(self, expr: ast.ArrayGet) -> nodes.Expr:
        return nodes.Index(self.expr(expr.array), self.expr(expr.index), expr.span)

    def set_index(self, expr: ast.ArraySet) -> nodes.Expr:
        return nodes.SetIndex(self.expr(expr.array), self.expr(expr.index), self.expr(expr.value), expr.span)

    def new_ref(self, expr: ast.Ref) -> nodes.Expr:
        return nodes.NewRef(self.expr(expr.value), expr.span)

    def deref(self, expr: ast.Deref) -> nodes.Expr:
        return nodes.Deref(self.expr(expr.ref), expr.span)

    def set_ref(self, expr: ast.SetRef) -> nodes.Expr:
        return nodes.SetRef(self.expr(expr.ref), self.expr(expr.value), expr.span)

    def seq(self, expr: ast.Seq) -> nodes.Expr:
        return nodes.Seq(self.expr(expr.first), self.expr(expr.second), expr.span)

    def annotated(self, expr: ast.Annot) -> nodes.Expr:
        return self.expr(expr.value)


EXPRESSIONS: dict[type, Callable[[Resolver, Any], nodes.Expr]] = {
    ast.Unit: Resolver.unit,
    ast.Int: Resolver.constant,
    ast.Float: Resolver.constant,
    ast.Bool: Resolver.constant,
    ast.String: Resolver.constant,
    ast.Name: Resolver.name,
    ast.Neg: Resolver.negate,
    ast.Binary: Resolver.binary,
    ast.And: Resolver.conjunction,
    ast.Or: Resolver.disjunction,
    ast.Lambda: Resolver.anonymous,
    ast.Call: Resolver.call,
    ast.If: Resolver.conditional,
    ast.While: Resolver.loop,
    ast.Let: Resolver.let,
    ast.LetRec: Resolver.let_rec,
    ast.Match: Resolver.match,
    ast.RecordLit: Resolver.record,
    ast.FieldGet: Resolver.get,
    ast.RecordUpdate: Resolver.update,
    ast.Variant: Resolver.variant,
    ast.ArrayLit: Resolver.array,
    ast.ArrayGet: Resolver.index,
    ast.ArraySet: Resolver.set_index,
    ast.Ref: Resolver.new_ref,
    ast.Deref: Resolver.deref,
    ast.SetRef: Resolver.set_ref,
    ast.Seq: Resolver.seq,
    ast.Annot: Resolver.annotated,
}
