"""Copies of types that later inference does not change, for reports."""

from __future__ import annotations

from typing import Any

from chatml.source import Span
from chatml.syntax import ast
from chatml.types.facts import Mismatch, Site
from chatml.types.model import Type, Unknown
from chatml.types.rebuild import BUILDERS, rebuild
from chatml.types.unify import Failure


class Freezer:
    """Copies the types of one report. A variable is the same one in all of them, and a cycle stays a cycle."""

    def __init__(self) -> None:
        self.variables: dict[Unknown, Unknown] = {}
        self.copies: dict[Type, Type] = {}

    def freeze(self, type: Type) -> Type:
        """The type as it is known now."""
        if type.level < 0:
            return type
        if type.__class__ is Unknown:
            if type.link is not None:
                return self.freeze(type.link)
            return self.variable(type)
        if type in self.copies:
            return self.copies[type]
        if type.__class__ not in BUILDERS:
            return type
        hole = Unknown(0)
        self.copies[type] = hole
        hole.link = self.copies[type] = rebuild(type, self.freeze)
        return hole.link

    def variable(self, type: Unknown) -> Unknown:
        if type not in self.variables:
            copy = self.variables[type] = Unknown(type.level)
            copy.promised = None if type.promised is None else self.freeze(type.promised)
        return self.variables[type]


def mismatch(failure: Failure, left: Type, right: Type, site: Site, span: Span) -> Mismatch:
    """The facts of two types that had to be equal and are not."""
    freeze = Freezer().freeze
    return Mismatch(
        span,
        site,
        failure.kind,
        freeze(left),
        freeze(right),
        freeze(failure.left),
        freeze(failure.right),
        tuple(reversed(failure.path)),
        tuple(failure.labels),
        span_of(failure.left_site),
        span_of(failure.right_site),
    )


def span_of(site: Any) -> Span | None:
    """The place to point at for what determined a type."""
    if site is None:
        return None
    span: Span = site.op_span if isinstance(site, ast.Binary | ast.And | ast.Or) else site.span
    return span
