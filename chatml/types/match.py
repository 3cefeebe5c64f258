"""Matches: the types of patterns, exhaustiveness, redundancy, narrowing (language.md section 3.10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from chatml.source import Span
from chatml.syntax import ast
from chatml.types.coverage import Coverage
from chatml.types.elaborate import payload
from chatml.types.environment import Entry
from chatml.types.facts import DuplicateArm, DuplicateBinder, Fault, RedundantArm, Site
from chatml.types.join import join
from chatml.types.labels import refuse_repetition
from chatml.types.model import Bool, Empty, Extend, Float, Int, Record, String, Type, Unit, Unknown, Variant
from chatml.types.patterns import is_catch_all, key_of, parts_of, show_pattern
from chatml.types.rebuild import row_of
from chatml.types.scope import Scope
from chatml.types.unify import Failure, Unifier
from chatml.types.variables import unfolded


class Inference(Protocol):
    """What a match needs of the inference that it is part of, which is built on this module."""

    unifier: Unifier
    scope: Scope[Entry]
    fresh: Callable[[], Unknown]

    def infer(self, expr: ast.Expr) -> Type: ...

    def define(self, binder: ast.Ident | ast.NamePattern, entry: Entry) -> None: ...

    def mismatch(self, failure: Failure, left: Type, right: Type, site: Site, span: Span) -> Fault: ...


class Matching:
    """Infers `match` with the help of the inference that it is part of."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.demands: dict[type, Callable[[Any], Type]] = {
            ast.WildcardPattern: lambda pattern: inference.fresh(),
            ast.NamePattern: self.name,
            ast.UnitPattern: lambda pattern: Unit,
            ast.IntPattern: lambda pattern: Int,
            ast.FloatPattern: lambda pattern: Float,
            ast.BoolPattern: lambda pattern: Bool,
            ast.StringPattern: lambda pattern: String,
            ast.RecordPattern: self.record,
            ast.VariantPattern: self.variant,
        }
        """The type that each kind of pattern demands of what it is matched with."""

    def infer(self, expr: ast.Match) -> Type:
        """The type of a match: the join of its arms. Raises `Fault`."""
        inference = self.inference
        scrutinee = inference.infer(expr.scrutinee)
        refuse_unreachable(expr.arms)
        tags = Tags(inference.unifier, scrutinee)
        result = self.arm(expr, 0, scrutinee, tags)
        for index in range(1, len(expr.arms)):
            body = self.arm(expr, index, scrutinee, tags)
            if result is body and body.level < 0:
                continue
            inference.unifier.site = expr.arms[index].body
            try:
                result = join(inference.unifier, result, body)
            except Failure as failure:
                site = Site("arms", expr, index)
                raise inference.mismatch(failure, result, body, site, expr.arms[index].pattern.span) from None
        coverage = Coverage(inference.unifier, scrutinee, expr)
        coverage.refuse_missing()
        coverage.refuse_redundant()
        return result

    def arm(self, expr: ast.Match, index: int, scrutinee: Type, tags: Tags) -> Type:
        """The type of an arm's body."""
        inference = self.inference
        pattern = expr.arms[index].pattern
        refuse_repeated_names(pattern)
        mark = inference.scope.mark()
        if isinstance(pattern, ast.NamePattern):
            inference.define(pattern, scrutinee)
        elif not isinstance(pattern, ast.WildcardPattern):
            demanded = self.demand(pattern)
            inference.unifier.site = pattern
            try:
                if not tags.take(demanded):
                    inference.unifier.unify(scrutinee, demanded)
            except Failure as failure:
                site = Site("pattern", expr, index)
                raise inference.mismatch(failure, scrutinee, demanded, site, pattern.span) from None
        body = inference.infer(expr.arms[index].body)
        inference.scope.leave(mark)
        return body

    def demand(self, pattern: ast.Pattern) -> Type:
        """The type that a pattern demands; its names come into scope."""
        return self.demands[pattern.__class__](pattern)

    def name(self, pattern: ast.NamePattern) -> Type:
        type = self.inference.fresh()
        self.inference.define(pattern, type)
        return type

    def record(self, pattern: ast.RecordPattern) -> Type:
        fields = {field.label.name: self.demand(field.pattern) for field in pattern.fields}
        return Record(row_of(fields, self.inference.fresh() if pattern.open else Empty))

    def variant(self, pattern: ast.VariantPattern) -> Type:
        parts = payload([self.demand(arg) for arg in pattern.args])
        return Variant(Extend({pattern.tag: parts}, self.inference.fresh()))


class Tags:
    """The tags of a scrutinee, at hand for arm after arm: to unify whole rows for each takes quadratic time."""

    def __init__(self, unifier: Unifier, scrutinee: Type) -> None:
        self.unifier = unifier
        self.scrutinee = scrutinee
        self.known: dict[str, Type] = {}
        self.tail: Type | None = None

    def take(self, demanded: Type) -> bool:
        """Unify the scrutinee with a variant of one tag and an open row, unless only the long way tells how."""
        match demanded:
            case Variant(Extend() as row):
                return self.take_row(row)
        return False

    def take_row(self, row: Extend) -> bool:
        unifier = self.unifier
        ((tag, wanted),) = row.fields.items()
        if self.tail is not Empty and not (isinstance(self.tail, Unknown) and self.tail.link is None):
            variant = unfolded(unifier.prune(self.scrutinee))
            if not isinstance(variant, Variant):
                return False
            fields, self.tail = unifier.flatten(variant.row)
            self.known = dict(fields)
        if tag in self.known:
            try:
                unifier.unify(self.known[tag], wanted)
            except Failure as failure:
                failure.path.append(("tag", tag))
                raise
        elif isinstance(self.tail, Unknown):
            self.known[tag] = wanted
            unifier.bind(self.tail, row)
            self.tail = row.tail
        else:
            return False
        return True


def refuse_unreachable(arms: Sequence[ast.Arm]) -> None:
    """Raise `Fault` for an arm after a catch-all, and for a literal or a bare tag that is repeated."""
    seen: dict[object, Span] = {}
    catch_all: ast.Pattern | None = None
    for arm in arms:
        pattern = arm.pattern
        if catch_all is not None:
            covered = f"everything, with `{show_pattern(catch_all)}`"
            raise Fault(RedundantArm(pattern.span, show_pattern(pattern), covered, (catch_all.span,)))
        key = key_of(pattern)
        if key in seen:
            raise Fault(DuplicateArm(pattern.span, show_pattern(pattern), seen[key]))
        if key is not None:
            seen[key] = pattern.span
        if is_catch_all(pattern):
            catch_all = pattern


def refuse_repeated_names(pattern: ast.Pattern) -> None:
    """Raise `Fault` for a label that a record pattern repeats, then for a name that is bound twice."""
    if pattern.__class__ not in COMPOSITE:
        return
    names: list[ast.NamePattern] = []
    for part in parts_of(pattern):
        if isinstance(part, ast.RecordPattern):
            refuse_repetition("record pattern", [field.label for field in part.fields], pattern.span)
        elif isinstance(part, ast.NamePattern):
            names.append(part)
    seen: dict[str, Span] = {}
    for name in names:
        if name.name in seen:
            raise Fault(DuplicateBinder(pattern.span, name.name, seen[name.name], name.span))
        seen[name.name] = name.span


COMPOSITE = frozenset({ast.RecordPattern, ast.VariantPattern})
