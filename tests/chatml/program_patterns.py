"""Patterns of written programs: complete for a type, and none of them redundant."""

from __future__ import annotations

from collections.abc import Sequence

from tests.chatml.program_choices import Choices, Scope
from tests.chatml.program_types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    UNIT,
    Record,
    Scalar,
    Type,
    Variant,
)

Field = tuple[str, Type]
Case = tuple[str, tuple[Type, ...]]
Pattern = tuple[str, Scope]
"""A pattern's text, and the variables that it binds."""

LITERALS: dict[Type, tuple[str, ...]] = {
    INT: ("0", "1", "2"),
    FLOAT: ("0.0", "1.5"),
    STRING: ('""', '"a"'),
    BOOL: ("true", "false"),
}


class PatternWriter(Choices):
    """Writes the patterns of a match."""

    def patterns(self, kind: Type, scope: Scope) -> list[Pattern]:
        """The patterns of a complete match, none of them redundant."""
        match kind:
            case Scalar("bool"):
                first, second = self.pick((("true", "false"), ("false", "true")))
                return [(first, {}), self.pick(((second, {}), ("_", {})))]
            case Scalar("unit"):
                return [("()", {})]
            case Scalar("json"):
                return [("`Null", {}), self.payload("Number", (FLOAT,), scope), self.catch_all(kind, scope)]
            case Scalar():
                return [
                    *((literal, {}) for literal in self.some(LITERALS[kind])),
                    self.catch_all(kind, scope),
                ]
            case Variant(cases):
                return self.variant_patterns(kind, cases, scope)
            case Record(fields) if fields:
                literals = [field for field in fields if field[1] in LITERALS]
                partial = [self.fields(literals, scope, literal=True, closing="_")] if literals else []
                return [*partial, *self.pick((self.open_record, self.closed_record))(fields, scope)]
        return [self.catch_all(kind, scope)]

    def variant_patterns(self, kind: Type, cases: Sequence[Case], scope: Scope) -> list[Pattern]:
        covered = self.some(cases) if self.flip(3) else list(cases)
        found = []
        for tag, parts in covered:
            if any(part in LITERALS for part in parts) and self.flip(3):
                found.append(self.payload(tag, parts, scope, literal=True))
            found.append(self.payload(tag, parts, scope))
        return found if len(covered) == len(cases) else [*found, self.catch_all(kind, scope)]

    def open_record(self, fields: Sequence[Field], scope: Scope) -> list[Pattern]:
        return [self.fields(self.some(fields) or fields[:1], scope, closing="_")]

    def closed_record(self, fields: Sequence[Field], scope: Scope) -> list[Pattern]:
        """A value may have more fields than its type tells, so a catch-all follows."""
        return [self.fields(fields, scope), self.catch_all(Record(tuple(fields)), scope)]

    def payload(self, tag: str, parts: Sequence[Type], scope: Scope, *, literal: bool = False) -> Pattern:
        written, bound = self.parts(parts, scope, literal)
        return f"`{tag}({', '.join(written)})" if parts else f"`{tag}", bound

    def fields(self, fields: Sequence[Field], scope: Scope, *, literal: bool = False, closing: str = "") -> Pattern:
        written, bound = self.parts([part for _, part in fields], scope, literal)
        named = [f"{label} = {part}" for (label, _), part in zip(fields, written, strict=True)]
        return f"{{ {'; '.join([*named, *filter(None, (closing,))])} }}", bound

    def parts(self, kinds: Sequence[Type], scope: Scope, literal: bool) -> tuple[list[str], Scope]:
        """Patterns inside another one and what they bind; with `literal` the parts that can be literals are."""
        bound: Scope = {}
        written = []
        for kind in kinds:
            if literal and kind in LITERALS:
                written.append(self.pick(LITERALS[kind]))
            elif isinstance(kind, Record) and kind.fields and self.flip(3):
                written.append(f"{{ {kind.fields[0][0]} = {self.binder(kind.fields[0][1], scope, bound)}; _ }}")
            else:
                written.append(self.binder(kind, scope, bound))
        return written, bound

    def binder(self, kind: Type, scope: Scope, bound: Scope) -> str:
        if self.flip(3):
            return "_"
        name = self.fresh({known: UNIT for known in scope if known not in bound})
        bound[name] = kind
        return name

    def catch_all(self, kind: Type, scope: Scope) -> Pattern:
        if self.flip(2):
            return "_", {}
        name = self.fresh(scope)
        return name, {name: kind}
