"""Arguments of a host that may stay what they are: a test that they fit their type, and the parts that it finds.

A record and its scalars are the same in Python and in the language, and plain JSON data can be read by whoever knows
that they are plain. So an entry tests an argument instead of copying it, and makes a value of it only for a script
that needs one.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from chatml.engines.compile.python import attribute, call, compare, const, is_a, item, keep, name
from chatml.records import frozen
from chatml.types.model import Empty, Record, Scalar, Type, Unit
from chatml.types.show import flatten
from chatml.types.variables import resolved
from chatml.values.model import INT_MAX, INT_MIN

DEEPEST = 3
"""So many records inside each other are tested by one condition."""


class UnfitError(Exception):
    """A type whose values are always made anew."""


class EscapeError(Exception):
    """A script needs a value where there is only `data`."""

    def __init__(self, data: HostData) -> None:
        super().__init__(data)
        self.data = data


@frozen(eq=False)
class HostData:
    """Data of a host in a variable: a scalar, plain JSON, or a record of such fields."""

    parameter: int
    variable: str
    is_scalar: bool = False
    is_json: bool = False
    fields: Mapping[str, HostData] = MappingProxyType({})

    @property
    def value(self) -> ast.expr:
        """An expression that makes a value of the data."""
        if self.is_scalar:
            return name(self.variable)
        if self.is_json:
            return call("from_json", name(self.variable))
        return ast.Dict([const(label) for label in self.fields], [field.value for field in self.fields.values()])


class Fit:
    """The condition under which an argument is data of a type, and the data. Raises `UnfitError`.

    `json` is the type whose data are plain JSON. The condition raises `KeyError` if a record lacks a field.
    """

    def __init__(self, parameter: int, type: Type, json: Type) -> None:
        self.parameter = parameter
        self.json = json
        self.conditions: list[ast.expr] = []
        self.made = 0
        self.data = self.part(name(f"a{parameter}"), type, DEEPEST)

    def part(self, source: ast.expr, type: Type, depth: int) -> HostData:
        """Add the conditions for a part, which begin by keeping it in a variable."""
        known = resolved(type)
        taken = source
        if isinstance(source, ast.Name):
            variable = source.id
        else:
            self.made += 1
            variable = f"a{self.parameter}_{self.made}"
            taken = keep(variable, source)
        if known is self.json:
            self.conditions.append(call("is_plain_json", taken))
            return HostData(self.parameter, variable, is_json=True)
        if isinstance(known, Scalar):
            self.scalar(taken, name(variable), known)
            return HostData(self.parameter, variable, is_scalar=True)
        if isinstance(known, Record) and depth:
            fields, tail = flatten(known.row)
            self.conditions.append(is_a(taken, "dict"))
            if tail is not Empty:  # Else further fields stay outside.
                self.conditions.append(compare(call("len", name(variable)), ast.Eq(), const(len(fields))))
            found = {label: self.part(item(name(variable), const(label)), fields[label], depth - 1) for label in fields}
            return HostData(self.parameter, variable, fields=found)
        raise UnfitError

    def scalar(self, taken: ast.expr, again: ast.expr, type: Scalar) -> None:
        if type is Unit:
            self.conditions.append(compare(taken, ast.Is(), const(None)))
            return
        self.conditions.append(is_a(taken, KINDS[type.name]))
        if type.name == "string":
            self.conditions.append(ast.BoolOp(ast.Or(), [call(attribute(again, "isascii")), call("is_text", again)]))
        elif type.name == "int":
            self.conditions.append(ast.Compare(const(INT_MIN), [ast.LtE(), ast.LtE()], [again, const(INT_MAX)]))


KINDS = {"int": "int", "float": "float", "bool": "bool", "string": "str"}
"""The Python classes of scalars."""
