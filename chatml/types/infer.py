"""The types of expressions (language.md section 3.6).

The order of inference and of unifications, and which type is left and which right, are those of the specification:
they decide which error comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from chatml.lazy import lazy
from chatml.source import Span
from chatml.syntax import ast
from chatml.types.containers import Containers
from chatml.types.elaborate import Elaborator
from chatml.types.environment import Body, Entry, Environment, ModuleType
from chatml.types.equality import without_equality
from chatml.types.facts import (
    BadPattern,
    Fault,
    LambdaArity,
    Node,
    NoEquality,
    NotRecursive,
    Problem,
    Site,
    UnknownVariable,
)
from chatml.types.freeze import Freezer, mismatch
from chatml.types.join import join
from chatml.types.match import Matching
from chatml.types.model import (
    Bool,
    Con,
    Empty,
    Float,
    Fun,
    Int,
    Record,
    String,
    Type,
    Unit,
)
from chatml.types.rebuild import level_of, row_of
from chatml.types.reopen import reopen
from chatml.types.scheme import Scheme, generalise, instantiate
from chatml.types.scope import Scope
from chatml.types.unify import Failure, Unifier
from chatml.types.variables import unfolded

if TYPE_CHECKING:
    from chatml import text_match
    from chatml.diagnostics import suggest
else:
    text_match = lazy("chatml.text_match")
    suggest = lazy("chatml.diagnostics.suggest")

OPERATORS: dict[str, tuple[Type, Type]] = {
    **dict.fromkeys(("+", "-", "*", "/", "%"), (Int, Int)),
    **dict.fromkeys(("<", ">", "<=", ">="), (Int, Bool)),
    **dict.fromkeys(("+.", "-.", "*.", "/."), (Float, Float)),
    **dict.fromkeys(("<.", ">.", "<=.", ">=."), (Float, Bool)),
    "++": (String, String),
}
"""What each operator wants of both operands, and what it gives; `==` and `!=` are not among them."""


MOST_PROBLEMS = 100
"""How many problems of one script are reported."""


class Inference:
    """Infers expressions, and holds what is known while a script is checked."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.unifier = Unifier()
        self.prune = self.unifier.prune
        self.fresh = self.unifier.fresh
        self.scope = Scope(environment.values)
        self.elaborator = Elaborator(
            environment.aliases, self.scope.entries.__contains__, self.fresh, environment.added
        )
        self.matching = Matching(self)
        self.problems: list[Problem] = []
        self.bodies: dict[Entry | None, Body] = {}
        """The modules whose bodies are being checked, by what their names stand for in there (section 3.11).

        That is a record of the exports that are not final where they are used, each at one type.
        """
        self.types: dict[ast.Expr, Type] = {}
        """The type of every expression, as inference found it."""
        self.operands: dict[ast.Binary, Type] = {}
        """The type of what each `==` and `!=` compares."""
        self.projections: set[ast.FieldGet] = set()
        """The field accesses that name an export of a module directly."""
        self.absent: set[ast.FieldGet] = set()
        """The field accesses that fail whenever they run: what an update kept does not have the field (section 3.7)."""
        self.binders: dict[ast.Ident | ast.NamePattern, Entry] = {}
        """What each name stands for, where it is bound."""
        self.handlers: dict[type, Callable[[Any], Type]] = {
            ast.Unit: lambda expr: Unit,
            ast.Int: lambda expr: Int,
            ast.Float: lambda expr: Float,
            ast.Bool: lambda expr: Bool,
            ast.String: lambda expr: String,
            ast.Name: self.name,
            ast.Neg: self.neg,
            ast.Binary: self.binary,
            ast.And: self.connective,
            ast.Or: self.connective,
            ast.Lambda: self.function,
            ast.Call: self.call,
            ast.If: self.conditional,
            ast.While: self.loop,
            ast.Seq: self.sequence,
            ast.Let: self.let,
            ast.LetRec: self.let_rec,
            ast.Match: self.matching.infer,
            **Containers(self).handlers,
            ast.Annot: self.annotated,
        }

    def infer(self, expr: ast.Expr) -> Type:
        """The type of an expression. Raises `Fault`."""
        type = self.types[expr] = self.handlers[expr.__class__](expr)
        return type

    # Making types equal

    def equate(self, left: Type, right: Type, role: str, node: Node, index: int = 0) -> None:
        """Unify, or report at the node that the two types differ."""
        self.unifier.site = node
        try:
            self.unifier.unify(left, right)
        except Failure as failure:
            raise self.mismatch(failure, left, right, Site(role, node, index), node.span) from None

    def mismatch(self, failure: Failure, left: Type, right: Type, site: Site, span: Span) -> Fault:
        """The report of two types that had to be equal and are not."""
        return Fault(mismatch(failure, left, right, site, span))

    def taken(self, type: Type) -> Type:
        """What a part of a type is known to be."""
        known = self.prune(type)
        if known.__class__ is Con:
            return self.unifier.settled(known)
        return known

    # Names and bindings

    def name(self, expr: ast.Name) -> Type:
        entry = self.scope.entries.get(expr.name)
        if entry is None:
            return self.unknown(expr)
        return self.use(entry)

    def use(self, entry: Entry) -> Type:
        """The type of one use of what a name stands for."""
        if isinstance(entry, Scheme):
            return instantiate(self.unifier, entry)
        if isinstance(entry, ModuleType):
            exports = {label: self.use(export) for label, export in entry.exports.items()}
            return Record(row_of(exports, Empty))
        return entry

    def unknown(self, expr: ast.Name) -> Type:
        """Report a name that stands for nothing, and go on as if it were anything."""
        if not self.scope.incomplete and len(self.problems) < MOST_PROBLEMS:
            self.problems.append(self.unknown_variable(expr.name, expr.span))
        return self.fresh()

    def unknown_variable(self, name: str, span: Span, *, opened: bool = False) -> UnknownVariable:
        exporters = [
            module
            for module, entry in self.scope.entries.items()
            if isinstance(entry, ModuleType) and name in entry.exports
        ]
        alike = [
            known for known in self.scope.entries if known[0].isupper() <= name[0].isupper() or known.lower() == name
        ]
        near = tuple(suggest.near(name, alike))
        return UnknownVariable(span, name, near, tuple(sorted(exporters)), opened)

    def define(self, binder: ast.Ident | ast.NamePattern, entry: Entry) -> None:
        """Let a name stand for something from where it is bound."""
        self.binders[binder] = entry
        self.scope.define(binder.name, entry)

    def bind(self, value: ast.Expr) -> Entry:
        """What a name stands for that is bound to this expression (section 3.3)."""
        unifier = self.unifier
        unifier.level += 1
        type = self.infer(value)
        unifier.level -= 1
        if type.level <= unifier.level:
            return type
        if is_non_expansive(value):
            return generalise(unifier, type)
        unifier.search(type, unifier.level, None)
        return type

    def let(self, expr: ast.Let) -> Type:
        entry = self.bind(expr.value)
        mark = self.scope.mark()
        self.define(expr.name, entry)
        body = self.infer(expr.body)
        self.scope.leave(mark)
        return body

    def let_rec(self, expr: ast.LetRec) -> Type:
        mark = self.scope.mark()
        for name, entry in self.bind_group(expr.bindings, expr):
            self.define(name, entry)
        body = self.infer(expr.body)
        self.scope.leave(mark)
        return body

    def bind_group(
        self, bindings: Sequence[ast.Binding], whole: ast.LetRec | None = None
    ) -> list[tuple[ast.Ident, Entry]]:
        """What the names of a recursive group stand for (section 3.9); they are in scope here at one type each."""
        for binding in bindings:
            value = binding.value.value if isinstance(binding.value, ast.Annot) else binding.value
            if not isinstance(value, ast.Lambda):
                raise Fault(NotRecursive(binding.value.span, binding.name.name))
        unifier = self.unifier
        unifier.level += 1
        variables = [self.fresh() for _ in bindings]
        for binding, variable in zip(bindings, variables, strict=True):
            self.define(binding.name, variable)
        for index, (binding, variable) in enumerate(zip(bindings, variables, strict=True)):
            type = self.infer(binding.value)
            self.equate(variable, type, "recursive", whole or binding, index)
        unifier.level -= 1
        return [
            (binding.name, generalise(unifier, self.prune(variable)))
            for binding, variable in zip(bindings, variables, strict=True)
        ]

    # Operators

    def neg(self, expr: ast.Neg) -> Type:
        wanted = Int if expr.op == "-" else Float
        operand = self.infer(expr.operand)
        if operand is not wanted:
            self.equate(operand, wanted, "operand", expr)
        return wanted

    def binary(self, expr: ast.Binary) -> Type:
        left = self.infer(expr.left)
        right = self.infer(expr.right)
        if expr.op not in OPERATORS:
            return self.comparison(expr, left, right)
        wanted, result = OPERATORS[expr.op]
        if left is not wanted:
            self.equate(left, wanted, "operand", expr, 0)
        if right is not wanted:
            self.equate(right, wanted, "operand", expr, 1)
        return result

    def comparison(self, expr: ast.Binary, left: Type, right: Type) -> Type:
        self.operands[expr] = left
        self.equate(left, right, "comparison", expr)
        part = without_equality(self.unifier, left)
        if part is not None:
            freeze = Freezer().freeze
            raise Fault(NoEquality(expr.span, expr, freeze(left), freeze(part)))
        return Bool

    def connective(self, expr: ast.And | ast.Or) -> Type:
        left = self.infer(expr.left)
        right = self.infer(expr.right)
        self.equate(left, Bool, "operand", expr, 0)
        self.equate(right, Bool, "operand", expr, 1)
        return Bool

    # Functions

    def function(self, expr: ast.Lambda) -> Type:
        unifier = self.unifier
        unifier.level += 1
        inside = [self.fresh() for _ in expr.params]
        mark = self.scope.mark()
        for ident, param in zip(expr.params, inside, strict=True):
            self.define(ident, param)
        body = self.infer(expr.body)
        self.scope.leave(mark)
        params = [param if param.link is None else reopen(unifier, param) for param in inside]
        unifier.level -= 1
        return Fun(params, body, level_of([*params, body]))

    def call(self, expr: ast.Call) -> Type:
        function = self.infer(expr.function)
        args = [self.infer(arg) for arg in expr.args]
        known = self.prune(function)
        if id(known) in self.environment.patterns:
            self.look_at_pattern(expr.args[1:2])
        if known.__class__ is not Fun or len(known.params) != len(args):
            result = self.fresh()
            self.equate(function, Fun(args, result), "callee", expr)
            return result
        for index, (param, arg) in enumerate(zip(known.params, args, strict=True)):
            if param is not arg:
                self.equate(param, arg, "argument", expr, index)
        return self.taken(known.result)

    def look_at_pattern(self, args: Sequence[ast.Expr]) -> None:
        """Report a pattern that is written out and is none (builtins.md section 10)."""
        for arg in args:
            if isinstance(arg, ast.String):
                try:
                    text_match.compile(arg.value)
                except text_match.PatternError as error:
                    self.problems.append(BadPattern(arg.span, error.reason, error.position))

    def annotated(self, expr: ast.Annot) -> Type:
        annotation = self.elaborator.annotation(expr.type, expr.span)
        function = unfolded(annotation)
        value = expr.value
        if not isinstance(value, ast.Lambda) or not isinstance(function, Fun):
            type = self.infer(value)
            self.equate(type, annotation, "annotated", expr)
            return annotation
        if len(value.params) != len(function.params):
            wanted, given = len(function.params), len(value.params)
            raise Fault(LambdaArity(value.span, wanted, given, annotation, expr.type.span))
        self.unifier.level += 1
        mark = self.scope.mark()
        for ident, param in zip(value.params, function.params, strict=True):
            self.define(ident, param)
        body = self.infer(value.body)
        self.scope.leave(mark)
        self.equate(body, function.result, "annotated_result", expr)
        self.unifier.level -= 1
        self.types[value] = annotation
        return annotation

    # Control

    def conditional(self, expr: ast.If) -> Type:
        condition = self.infer(expr.condition)
        if condition is not Bool:
            self.equate(condition, Bool, "condition", expr)
        then = self.infer(expr.then)
        otherwise = self.infer(expr.otherwise)
        if then is otherwise and then.level < 0:
            return then
        self.unifier.site = expr
        try:
            return join(self.unifier, then, otherwise)
        except Failure as failure:
            raise self.mismatch(failure, then, otherwise, Site("branches", expr), expr.span) from None

    def loop(self, expr: ast.While) -> Type:
        condition = self.infer(expr.condition)
        self.equate(condition, Bool, "condition", expr)
        self.infer(expr.body)
        return Unit

    def sequence(self, expr: ast.Seq) -> Type:
        self.infer(expr.first)
        return self.infer(expr.second)


def is_non_expansive(expr: ast.Expr) -> bool:
    """Whether a binding of this expression may be generalised (section 3.3, value restriction)."""
    todo = [expr]
    while todo:
        expr = todo.pop()
        match expr:
            case ast.Variant(args=args):
                todo.extend(args)
            case ast.RecordLit(fields=fields):
                todo.extend([field.value for field in fields])
            case ast.Annot(value=value):
                todo.append(value)
            case _ if expr.__class__ not in NON_EXPANSIVE:
                return False
    return True


NON_EXPANSIVE = frozenset({ast.Unit, ast.Int, ast.Float, ast.Bool, ast.String, ast.Name, ast.Lambda})
