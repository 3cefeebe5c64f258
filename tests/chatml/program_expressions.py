"""Expressions of written programs, from the type that is wanted downwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from tests.chatml.program_choices import LABELS, Chooser, Scope
from tests.chatml.program_patterns import PatternWriter
from tests.chatml.program_types import (
    BOOL,
    BUILTINS,
    FLOAT,
    INT,
    JSON,
    STRING,
    UNIT,
    Array,
    Function,
    Record,
    Ref,
    Scalar,
    Scheme,
    Task,
    Type,
    Variant,
    annotation,
    fill,
    holes,
    is_data,
    match_scheme,
)

INTS = ("0", "1", "2", "3", "7", "10", "100", "4611686018427387903")
FLOATS = ("0.0", "1.0", "0.5", "2.25", "1000000.0", "0.1")
TEXTS = (
    "",
    "a",
    "b",
    "ab",
    "é",
    "😀",
    'say \\"hi\\"',
    "tab\\t",
    "two\\nlines",
    "\\\\",
    "\\d",
    "(* no comment *)",
)


@attrs.frozen
class Text:
    """A piece of program: its text, and how it may stand beside others."""

    text: str
    form: str = "atom"

    @property
    def atom(self) -> str:
        """As an operand, or what a postfix form follows."""
        return self.text if self.form == "atom" else f"({self.text})"

    @property
    def expr(self) -> str:
        """As a whole expression that something may follow."""
        return self.text if self.form in ("atom", "operation") else f"({self.text})"


def operation(text: str) -> Text:
    return Text(text, "operation")


def open_ended(text: str) -> Text:
    """A form whose last part extends as far right as it can, or a sequence."""
    return Text(text, "open")


class ExpressionWriter(PatternWriter):
    """Writes expressions; holds how many nodes may still be spent, and the script's own helpers."""

    def __init__(self, chooser: Chooser) -> None:
        super().__init__(chooser)
        self.nodes = 0
        self.helpers: list[Scheme] = list(BUILTINS)
        self.readers: dict[str, str] = {}

    def expression(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """An expression of a type."""
        self.nodes -= 1
        if depth <= 0 or self.nodes <= 0 or self.flip(4):
            return self.leaf(wanted, scope, depth)
        forms: list[Form] = [*FORMS_OF.get(type(wanted), ()), *FORMS_OF_SCALARS.get(wanted, ()), *FORMS]
        return self.pick(forms)(self, wanted, scope, depth - 1)

    def leaf(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """A variable, or else the smallest construction."""
        known = [name for name, found in scope.items() if found == wanted]
        if known and not self.flip(3):
            return Text(self.pick(known[-6:]))
        return self.construct(wanted, scope, depth)

    def construct(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """The literal form of a type; its parts may be anything."""
        inner = depth - 1
        match wanted:
            case Scalar("int"):
                return Text(self.pick(INTS))
            case Scalar("float"):
                return Text(self.pick(FLOATS))
            case Scalar("bool"):
                return Text(self.pick(("true", "false")))
            case Scalar("string"):
                return Text(f'"{self.pick(TEXTS)}"')
            case Scalar("unit"):
                return Text("()")
            case Scalar("json"):
                return self.json(scope, inner)
            case Record(fields):
                return self.record(fields, scope, inner)
            case Variant(cases):
                tag, parts = self.pick(cases)
                return Text(f"`{tag}{self.arguments(parts, scope, inner) if parts else ''}")
            case Array(item):
                count = self.pick((1, 2, 3, 1, 2, 3, 2, 0))
                return Text(f"[{self.elements([item] * count, scope, inner)}]")
            case Ref(content):
                return operation(f"ref {self.expression(content, scope, inner).atom}")
            case Task(result):
                return Text(f"Task.pure({self.expression(result, scope, inner).text})")
            case Function(params, result):
                return self.function(params, result, scope, inner)
        raise AssertionError(wanted)

    def elements(self, types: Sequence[Type], scope: Scope, depth: int) -> str:
        return ", ".join(self.expression(part, scope, depth).text for part in types)

    def arguments(self, types: Sequence[Type], scope: Scope, depth: int) -> str:
        return f"({self.elements(types, scope, depth)})"

    def record(self, fields: Sequence[tuple[str, Type]], scope: Scope, depth: int) -> Text:
        order = [*fields[1:], *fields[:1]] if self.flip(2) else fields
        written = "; ".join(f"{label} = {self.expression(part, scope, depth).expr}" for label, part in order)
        if not written:
            return Text("{}")
        return Text(f"{{ {written}{'; ' if self.flip(6) else ' '}}}")

    def function(self, params: Sequence[Type], result: Type, scope: Scope, depth: int) -> Text:
        names, inner = self.parameters(params, scope)
        return open_ended(f"fun {names} -> {self.expression(result, inner, depth).text}")

    def parameters(self, params: Sequence[Type], scope: Scope) -> tuple[str, Scope]:
        """Names for parameters, and the scope of the body."""
        names: list[str] = []
        for _ in params:
            names.append(self.fresh({name: UNIT for name in scope if name not in names}))
        return " ".join(names) or "()", {**scope, **dict(zip(names, params, strict=True))}

    def json(self, scope: Scope, depth: int) -> Text:
        kind = self.pick(("Null", "Bool", "Number", "String", "Array", "Object"))
        match kind:
            case "Bool":
                return Text(f"`Bool({self.expression(BOOL, scope, depth).text})")
            case "Number":
                return Text(f"`Number({self.expression(FLOAT, scope, depth).text})")
            case "String":
                return Text(f"`String({self.expression(STRING, scope, depth).text})")
            case "Array":
                return Text(f"`Array({self.construct(Array(JSON), scope, depth).text})")
            case "Object":
                entry = Record((("key", STRING), ("value", JSON)))
                return Text(f"`Object({self.construct(Array(entry), scope, depth).text})")
        return Text("`Null")

    # Forms for any type

    def conditional(self, wanted: Type, scope: Scope, depth: int) -> Text:
        condition = self.expression(BOOL, scope, depth).text
        then, otherwise = (self.branch(wanted, scope, depth).text for _ in range(2))
        return open_ended(f"if {condition} then {then} else {otherwise}")

    def branch(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """A part of a join. Records join to the labels known on both sides, so they are written out."""
        if isinstance(wanted, Record):
            parts = [f"{label} = {self.branch(part, scope, depth - 1).expr}" for label, part in wanted.fields]
            return Text(f"{{ {'; '.join(parts)} }}" if parts else "{}")
        return self.expression(wanted, scope, depth)

    def let(self, wanted: Type, scope: Scope, depth: int) -> Text:
        bound = self.type(depth)
        name = self.fresh(scope)
        value = self.expression(bound, scope, depth).text
        written = annotation(bound) if self.flip(3) else None
        body = self.expression(wanted, {**scope, name: bound}, depth).text
        return open_ended(f"let {name}{f' : {written}' if written else ''} = {value} in {body}")

    def let_function(self, wanted: Type, scope: Scope, depth: int) -> Text:
        made = Function((self.type(1, data=True),), self.type(depth))
        name = self.fresh(scope)
        names, inner = self.parameters(made.params, scope)
        value = self.expression(made.result, inner, depth).text
        body = self.expression(wanted, {**scope, name: made}, depth).text
        return open_ended(f"let {name} {names} = {value} in {body}")

    def let_rec(self, wanted: Type, scope: Scope, depth: int) -> Text:
        name = self.fresh(scope)
        defined = self.countdown(name, wanted, scope, depth)
        return open_ended(f"let rec {defined} in {name}({self.pick(('0', '1', '3'))})")

    def countdown(self, name: str, result: Type, scope: Scope, depth: int) -> str:
        """A recursive function of a small number, which it counts down: `name n = ...`."""
        number, rest = "k" + name, "r" + name
        inner = {known: kind for known, kind in scope.items() if known != name} | {number: INT}
        last = self.branch(result, inner, depth).text
        inner[rest] = result
        step = self.branch(result, inner, depth).text
        call = f"{name}({number} - 1)"
        return f"{name} {number} = if {number} <= 0 then {last} else let {rest} = {call} in {step}"

    def sequence(self, wanted: Type, scope: Scope, depth: int) -> Text:
        first = self.expression(self.pick((UNIT, UNIT, INT)), scope, depth).expr
        return open_ended(f"{first}; {self.expression(wanted, scope, depth).text}")

    def application(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """A call of a function in scope, or of one written on the spot."""
        known = [name for name, found in scope.items() if isinstance(found, Function) and found.result == wanted]
        if known and not self.flip(4):
            name = self.pick(known)
            return Text(name + self.arguments(scope[name].params, scope, depth))
        params = [self.type(1, data=True) for _ in range(self.chooser.below(3))]
        made = self.function(params, wanted, scope, depth)
        return Text(made.atom + self.arguments(params, scope, depth))

    def builtin(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """A call of a builtin, or of a polymorphic helper of the script."""
        fitting = [
            (scheme, found) for scheme in self.helpers if (found := match_scheme(scheme.result, wanted)) is not None
        ]
        if not fitting:
            return self.leaf(wanted, scope, depth)
        scheme, found = self.pick(fitting)
        for hole in holes(scheme):
            if hole not in found:
                found[hole] = self.payload_type(1, data=True)
        params = [fill(param, found) for param in scheme.params]
        return Text(scheme.name + self.arguments(params, scope, depth))

    def field(self, wanted: Type, scope: Scope, depth: int) -> Text:
        label = self.pick(LABELS)
        others = [(other, self.type(0)) for other in self.some(LABELS) if other != label]
        whole = Record(tuple(sorted([(label, wanted), *others])))
        if label in self.readers and self.flip(2):
            return Text(f"{self.readers[label]}({self.expression(whole, scope, depth).text})")
        return Text(f"{self.expression(whole, scope, depth).atom}.{label}")

    def element(self, wanted: Type, scope: Scope, depth: int) -> Text:
        if not is_data(wanted):
            return self.leaf(wanted, scope, depth)
        array = self.expression(Array(wanted), scope, depth).atom
        index = "0" if not self.flip(12) else self.expression(INT, scope, depth).expr
        return Text(f"{array}[{index}]")

    def dereference(self, wanted: Type, scope: Scope, depth: int) -> Text:
        if not is_data(wanted):
            return self.leaf(wanted, scope, depth)
        return operation(f"!{self.expression(Ref(wanted), scope, depth).atom}")

    def matching(self, wanted: Type, scope: Scope, depth: int) -> Text:
        kind = self.type(2, data=True)
        scrutinee = self.expression(kind, scope, depth).text
        patterns = self.patterns(kind, scope)
        arms = []
        for number, (pattern, bound) in enumerate(patterns):
            body = self.branch(wanted, {**scope, **bound}, depth)
            arms.append(f"| {pattern} -> {body.text if number == len(patterns) - 1 else body.expr}")
        return open_ended(f"match {scrutinee} with {' '.join(arms)}")

    # Forms of single types

    def arithmetic(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """A chain of operators without parentheses; a divisor is nearly always a number that is not zero."""
        dot = "." if wanted == FLOAT else ""
        text = self.expression(wanted, scope, depth).atom
        for _ in range(1 + self.chooser.below(3)):
            operator = self.pick(("+", "-", "*", "/", "%"))
            if operator in "/%" and not self.flip(12):
                right = self.pick(("2.0", "0.5") if dot else ("2", "3", "5"))
            else:
                right = self.expression(wanted, scope, depth).atom
            text += f" {'/' if dot and operator == '%' else operator}{dot} {right}"
        return operation(text)

    def negation(self, wanted: Type, scope: Scope, depth: int) -> Text:
        sign = "-." if wanted == FLOAT else "-"
        return operation(f"{sign}{self.expression(wanted, scope, depth).atom}")

    def concatenation(self, wanted: Type, scope: Scope, depth: int) -> Text:
        return operation(" ++ ".join(self.expression(STRING, scope, depth).atom for _ in range(2)))

    def comparison(self, wanted: Type, scope: Scope, depth: int) -> Text:
        if self.flip(2):
            kind = self.comparable(2)
            operator = self.pick(("==", "!="))
        else:
            kind, dot = self.pick(((INT, ""), (FLOAT, ".")))
            operator = self.pick(("<", "<=", ">", ">=")) + dot
        left, right = (self.expression(kind, scope, depth).atom for _ in range(2))
        return operation(f"{left} {operator} {right}")

    def logic(self, wanted: Type, scope: Scope, depth: int) -> Text:
        parts = [self.expression(BOOL, scope, depth).atom for _ in range(2 + self.chooser.below(2))]
        text = parts[0]
        for part in parts[1:]:
            text += f" {self.pick(('&&', '||'))} {part}"
        return operation(text)

    def assignment(self, wanted: Type, scope: Scope, depth: int) -> Text:
        content = self.type(1, data=True)
        left = self.expression(Ref(content), scope, depth).atom
        return operation(f"{left} := {self.expression(content, scope, depth).expr}")

    def element_write(self, wanted: Type, scope: Scope, depth: int) -> Text:
        item = self.type(1, data=True)
        left = self.expression(Array(item), scope, depth).atom
        return operation(f"{left}[0] <- {self.expression(item, scope, depth).expr}")

    def loop(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """A loop over a counter that its body can read and not write."""
        self.names += 1
        cell, number = f"i{self.names}", f"n{self.names}"
        body = self.expression(self.pick((UNIT, INT)), {**scope, number: INT}, depth).expr
        turn = f"let {number} = !{cell} in {body}; {cell} := {number} + 1"
        return open_ended(f"let {cell} = ref 0 in while !{cell} < {self.pick(('1', '2', '3'))} do {turn} done")

    def update(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """A copy-update that writes some fields.

        A field that the base has already, of another type perhaps, is only given to a base that is written out: what is
        known of a parameter might be closed before the caller's record is seen.
        """
        assert isinstance(wanted, Record)
        written = self.some(wanted.fields) or list(wanted.fields)
        if not written:
            return self.construct(wanted, scope, depth)
        labels = {label for label, _ in written}
        kept = [field for field in wanted.fields if field[0] not in labels]
        before = [(label, self.type(0)) for label, _ in written if self.flip(2)]
        make = self.construct if before else self.expression
        base = make(Record(tuple(sorted([*kept, *before]))), scope, depth)
        fields = "; ".join(f"{label} = {self.expression(part, scope, depth).expr}" for label, part in written)
        return Text(f"{{ {base.atom} with {fields} }}")

    def narrowing_join(self, wanted: Type, scope: Scope, depth: int) -> Text:
        """A join of two wider records, which keeps what they share."""
        assert isinstance(wanted, Record)
        bodies = [self.branch(wanted, scope, depth).text[2:-2] for _ in range(2)]
        left, right = (
            "; ".join(filter(None, (body, f"{extra} = 1"))) for body, extra in zip(bodies, ("x", "y"), strict=True)
        )
        condition = self.expression(BOOL, scope, depth).text
        return open_ended(f"if {condition} then {{ {left} }} else {{ {right} }}")

    def task_binding(self, wanted: Type, scope: Scope, depth: int) -> Text:
        assert isinstance(wanted, Task)
        keyword, result = self.pick((("let*", wanted), ("let+", wanted.result)))
        first = self.type(1, data=True)
        name = "()" if self.flip(4) else self.fresh(scope)
        inner = scope if name == "()" else {**scope, name: first}
        task = self.expression(Task(first), scope, depth).text
        return open_ended(f"{keyword} {name} = {task} in {self.expression(result, inner, depth).text}")


Form = Callable[[ExpressionWriter, Type, Scope, int], Text]


FORMS: tuple[Form, ...] = (
    ExpressionWriter.builtin,
    ExpressionWriter.application,
    ExpressionWriter.conditional,
    ExpressionWriter.let,
    ExpressionWriter.let_function,
    ExpressionWriter.matching,
    ExpressionWriter.field,
    ExpressionWriter.sequence,
    ExpressionWriter.element,
    ExpressionWriter.dereference,
    ExpressionWriter.let_rec,
)

FORMS_OF: dict[type, tuple[Form, ...]] = {
    Record: (ExpressionWriter.construct, ExpressionWriter.update, ExpressionWriter.narrowing_join),
    Variant: (ExpressionWriter.construct,),
    Array: (ExpressionWriter.construct,),
    Ref: (ExpressionWriter.construct,),
    Function: (ExpressionWriter.construct, ExpressionWriter.construct),
    Task: (ExpressionWriter.construct, ExpressionWriter.task_binding, ExpressionWriter.task_binding),
}

FORMS_OF_SCALARS: dict[Type, tuple[Form, ...]] = {
    INT: (ExpressionWriter.arithmetic, ExpressionWriter.arithmetic, ExpressionWriter.negation),
    FLOAT: (ExpressionWriter.arithmetic, ExpressionWriter.negation),
    STRING: (ExpressionWriter.concatenation,),
    BOOL: (ExpressionWriter.comparison, ExpressionWriter.comparison, ExpressionWriter.logic),
    UNIT: (ExpressionWriter.assignment, ExpressionWriter.element_write, ExpressionWriter.loop),
    JSON: (ExpressionWriter.construct,),
}
