"""Which arms of a match cover its scrutinee: exhaustiveness and redundancy by type (language.md section 3.10)."""

from __future__ import annotations

from collections.abc import Sequence

from chatml.syntax import ast
from chatml.types.facts import Fault, MissingCases, RedundantArm
from chatml.types.freeze import Freezer
from chatml.types.model import Bool, Empty, Record, Tuple, Type, Unit, Unknown, Variant
from chatml.types.patterns import is_catch_all, show_bool, show_case, show_pattern
from chatml.types.unify import Unifier
from chatml.types.variables import unfolded


class Coverage:
    """The arms of one match, checked against the type of the scrutinee as it is known after all of them."""

    def __init__(self, unifier: Unifier, scrutinee: Type, expr: ast.Match) -> None:
        self.unifier = unifier
        self.expr = expr
        self.scrutinee = scrutinee
        self.type = self.known(scrutinee)
        self.arms = [arm.pattern for arm in expr.arms]
        self.catch_all = next((arm for arm in self.arms if is_catch_all(arm)), None)

    def known(self, type: Type) -> Type:
        return unfolded(self.unifier.prune(type))

    # Exhaustiveness

    def refuse_missing(self) -> None:
        """Raise `Fault` for cases that no arm covers. Close the row of a variant whose tags all have an arm."""
        if self.catch_all is not None:
            return
        type = self.type
        if isinstance(type, Variant):
            self.close(type)
        elif type is Bool:
            values = {arm.value for arm in self.arms if isinstance(arm, ast.BoolPattern)}
            self.require([show_bool(value) for value in (True, False) if value not in values])
        elif type is Unit:
            self.require([] if any(isinstance(arm, ast.UnitPattern) for arm in self.arms) else ["()"])
        elif not isinstance(type, Record) or not any(self.is_total(arm, type) for arm in self.arms):
            raise self.missing([])

    def require(self, missing: list[str]) -> None:
        if missing:
            raise self.missing(missing)

    def missing(self, cases: list[str], partial: Sequence[ast.Pattern] = ()) -> Fault:
        spans = tuple([arm.span for arm in partial])
        type = Freezer().freeze(self.scrutinee)
        return Fault(MissingCases(self.expr.span, self.expr.scrutinee.span, type, tuple(cases), spans))

    def close(self, type: Variant) -> None:
        fields, tail = self.unifier.flatten(type.row)
        covered = {
            arm.tag
            for arm in self.arms
            if isinstance(arm, ast.VariantPattern) and arm.tag in fields and self.covers(arm, fields[arm.tag])
        }
        missing = sorted(fields.keys() - covered)
        if missing:
            partial = [arm for arm in self.arms if isinstance(arm, ast.VariantPattern) and arm.tag in missing]
            cases = [show_case(tag, len(self.components(fields[tag]))) for tag in missing]
            raise self.missing(cases, partial)
        if isinstance(tail, Unknown):
            self.unifier.bind(tail, Empty)

    def covers(self, pattern: ast.VariantPattern, payload: Type) -> bool:
        """Whether an arm by itself covers its tag, whose payload has this type."""
        components = self.components(payload)
        return len(pattern.args) == len(components) and self.are_total(pattern.args, components)

    def components(self, payload: Type) -> list[Type]:
        """The types of a tag's arguments; a payload that is not known yet is one."""
        known = self.known(payload)
        if known is Unit:
            return []
        return list(known.parts) if isinstance(known, Tuple) else [payload]

    def is_total(self, pattern: ast.Pattern, type: Type) -> bool:
        """Whether a pattern matches every value of a type."""
        if is_catch_all(pattern):
            return True
        known = self.known(type)
        if isinstance(pattern, ast.UnitPattern):
            return known is Unit
        if not isinstance(pattern, ast.RecordPattern) or not isinstance(known, Record):
            return False
        fields, tail = self.unifier.flatten(known.row)
        labels = {field.label.name for field in pattern.fields}
        if not pattern.open and (tail is not Empty or labels != fields.keys()):
            return False
        return labels <= fields.keys() and self.are_total(
            [field.pattern for field in pattern.fields], [fields[field.label.name] for field in pattern.fields]
        )

    def are_total(self, patterns: Sequence[ast.Pattern], types: Sequence[Type]) -> bool:
        for pattern, type in zip(patterns, types, strict=True):
            if not self.is_total(pattern, type):
                return False
        return True

    # Redundancy

    def refuse_redundant(self) -> None:
        """Raise `Fault` for an arm whose cases the arms before it cover by type."""
        if isinstance(self.type, Variant):
            self.refuse_covered_tags(self.type)
        elif self.catch_all is None:
            return
        elif self.type is Unit:
            self.refuse_catch_all("`()`", [arm for arm in self.arms if isinstance(arm, ast.UnitPattern)], 1)
        elif self.type is Bool:
            both = [arm for arm in self.arms if isinstance(arm, ast.BoolPattern)]
            self.refuse_catch_all("`true` and `false`", both, 2)

    def refuse_catch_all(self, covered: str, earlier: Sequence[ast.Pattern], enough: int) -> None:
        if self.catch_all is not None and len(earlier) >= enough:
            spans = tuple(arm.span for arm in earlier)
            raise Fault(RedundantArm(self.catch_all.span, show_pattern(self.catch_all), covered, spans))

    def refuse_covered_tags(self, type: Variant) -> None:
        fields, tail = self.unifier.flatten(type.row)
        covered: dict[str, ast.Pattern] = {}
        for arm in self.arms:
            if isinstance(arm, ast.VariantPattern):
                if arm.tag in covered:
                    case = show_case(arm.tag, len(arm.args))
                    raise Fault(RedundantArm(arm.span, show_pattern(arm), f"the case {case}", (covered[arm.tag].span,)))
                if arm.tag in fields and self.covers(arm, fields[arm.tag]):
                    covered[arm.tag] = arm
            elif covered and tail is Empty and covered.keys() >= fields.keys():
                self.refuse_catch_all("every case", list(covered.values()), 1)
