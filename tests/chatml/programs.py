"""Well-typed programs at random: a type is chosen first, then an expression of it is written.

Every program is accepted by the checker and ends; it may fail on the way (a zero divisor, an index, `fail`), but
never because a value has the wrong kind. It stays out of the corners where the language's own definition lets a
checked program miss at run time (language.md 3.7 and 3.8): a closed record pattern is always followed by a
catch-all, a payload pattern has the arity of its tag, modules are only read.

`programs()` is the Hypothesis strategy; `write_program(chooser)` takes any source of choices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol, TypeVar

import attrs
from hypothesis import strategies as st

from tests.chatml.program_types import (
    BOOL,
    BUILTINS,
    COMPARABLE_SCALARS,
    FLOAT,
    INT,
    JSON,
    STRING,
    UNIT,
    Array,
    Function,
    Hole,
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
    is_comparable,
    match_scheme,
    option,
)

T = TypeVar("T")

LABELS = ("a", "b", "c", "n")
TAGS = ("A", "B", "C", "None", "Some", "0")
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
NODES = 40
DEPTH = 4


class Chooser(Protocol):
    """A source of choices."""

    def below(self, bound: int) -> int:
        """A number from 0 to `bound - 1`; smaller ones stand for simpler choices."""


@attrs.frozen
class RandomChooser:
    """Choices from a random generator, for use outside Hypothesis."""

    random: Random

    def below(self, bound: int) -> int:
        return self.random.randrange(bound)


@attrs.frozen
class DrawnChooser:
    """Choices that Hypothesis makes, and shrinks."""

    draw: Callable[[st.SearchStrategy[int]], int]

    def below(self, bound: int) -> int:
        return self.draw(st.integers(0, bound - 1))


@st.composite
def programs(draw: Callable[[st.SearchStrategy[int]], int]) -> str:
    """The text of a well-typed program on the core surface."""
    return write_program(DrawnChooser(draw))


def write_program(chooser: Chooser) -> str:
    """The text of a well-typed program, from a source of choices."""
    return _Writer(chooser).program()


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


Scope = dict[str, Type]
Field = tuple[str, Type]
Case = tuple[str, tuple[Type, ...]]
Pattern = tuple[str, Scope]


class _Writer:
    """Writes one program; holds the source of choices and what may still be spent."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.nodes = NODES
        self.names = 0
        self.helpers: list[Scheme] = list(BUILTINS)
        self.readers: dict[str, str] = {}

    # Choices

    def flip(self, one_in: int) -> bool:
        return self.chooser.below(one_in) == one_in - 1

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.chooser.below(len(choices))]

    def some(self, choices: Sequence[T]) -> list[T]:
        return [choice for choice in choices if self.flip(2)]

    def fresh(self, scope: Scope) -> str:
        """A new name, or now and then one that is shadowed from here on."""
        plain = [name for name in scope if name.isidentifier()]
        if plain and self.flip(8):
            return self.pick(plain)
        self.names += 1
        return f"v{self.names}"

    # Types

    def type(self, depth: int, *, data: bool = False) -> Type:
        """A type; `data` keeps functions and tasks out, so that no cell can hold a way to loop."""
        if depth <= 0:
            return self.pick((INT, STRING, BOOL, FLOAT, UNIT))
        kinds = ["scalar", "record", "variant", "option", "array", "ref", "json"]
        kind = self.pick(kinds if data else [*kinds, "function", "function", "task"])
        match kind:
            case "record":
                return Record(tuple((label, self.type(depth - 1, data=data)) for label in self.some(LABELS)))
            case "variant":
                tags = self.some(TAGS[:3]) or ["A"]
                counts = [self.chooser.below(3) for _ in tags]
                return Variant(
                    tuple(
                        (tag, tuple(self.payload_type(depth - 2, data=data, alone=count == 1) for _ in range(count)))
                        for tag, count in zip(tags, counts, strict=True)
                    )
                )
            case "option":
                return option(self.payload_type(depth - 1, data=data))
            case "array":
                return Array(self.type(depth - 1, data=True))
            case "ref":
                return Ref(self.type(depth - 1, data=True))
            case "json":
                return JSON
            case "function":
                params = tuple(self.type(depth - 1, data=True) for _ in range(self.chooser.below(3)))
                return Function(params, self.type(depth - 1))
            case "task":
                return Task(self.type(depth - 1, data=True))
            case _:
                return self.type(0)

    def payload_type(self, depth: int, *, data: bool, alone: bool = True) -> Type:
        """A type for a part of a tag. Unit alone counts as no part at all, so a pattern could not name it."""
        found = self.type(depth, data=data)
        return INT if alone and found == UNIT else found

    def comparable(self, depth: int) -> Type:
        found = self.type(depth, data=True)
        return found if is_comparable(found) else self.pick(COMPARABLE_SCALARS)

    # Expressions

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

    # Patterns

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

    # Statements

    def program(self) -> str:
        scope: Scope = {}
        statements: list[str] = []
        for _ in range(1 + self.chooser.below(6)):
            self.nodes = NODES
            statements.append(self.pick(STATEMENTS)(self, scope))
        statements += [f"print({name})" for name in list(scope)[-5:]]
        return self.pick(("\n", "\n\n", " (* and (* then *) *)\n", "\r\n")).join(statements)

    def value_statement(self, scope: Scope) -> str:
        kind = self.type(3)
        name = self.fresh(scope)
        written = annotation(kind) if self.flip(3) else None
        value = self.expression(kind, scope, DEPTH).text
        scope[name] = kind
        return f"let {name}{f' : {written}' if written else ''} = {value}"

    def function_statement(self, scope: Scope) -> str:
        made = Function(tuple(self.type(2) for _ in range(self.chooser.below(3))), self.type(2))
        name = self.fresh(scope)
        names, inner = self.parameters(made.params, scope)
        body = self.expression(made.result, inner, DEPTH).text
        scope[name] = made
        return f"let {name} {names} = {body}"

    def recursive_statement(self, scope: Scope) -> str:
        names = [self.fresh({}) for _ in range(1 + self.chooser.below(2))]
        kinds = [self.type(2) for _ in names]
        defined = [self.countdown(name, kind, scope, 2) for name, kind in zip(names, kinds, strict=True)]
        for name, kind in zip(names, kinds, strict=True):
            scope[f"{name}(2)"] = kind
        return "let rec " + " and ".join(defined)

    def print_statement(self, scope: Scope) -> str:
        return f"print({self.expression(self.type(3), scope, DEPTH).text})"

    def effect_statement(self, scope: Scope) -> str:
        return f"let {self.fresh({})} = {self.expression(UNIT, scope, DEPTH).text}"

    def alias_statement(self, scope: Scope) -> str:
        kind = self.type(2, data=True)
        written = annotation(kind)
        if written is None:
            return self.value_statement(scope)
        name, value = self.fresh({}), self.fresh({})
        text = f"type t{name} = {written} let {value} : t{name} = {self.expression(kind, scope, 2).text}"
        scope[value] = kind
        return text

    def module_statement(self, scope: Scope) -> str:
        """A module with a value and a function; afterwards it may be opened."""
        module, value, function = "M" + self.fresh({}), self.fresh({}), self.fresh({})
        kind, result = self.type(2), self.type(2)
        body = self.expression(kind, scope, 2).text
        inner = {**scope, value: kind}
        text = f"let {value} = {body} let {function} () = {self.expression(result, inner, 2).text}"
        text = f"module {module} = struct {text} end"
        prefix = f"{module}."
        if self.flip(2):
            prefix, text = "", f"{text} open {module}"
        scope[prefix + value] = kind
        scope[prefix + function] = Function((), result)
        return text

    def polymorphic_statement(self, scope: Scope) -> str:
        """A helper that is used at several types."""
        name = self.fresh({})
        first, second = Hole("first"), Hole("second")
        text, params, result = self.pick(
            (
                (f"let {name} x = x", (first,), first),
                (f"let {name} x y = x", (first, second), first),
                (f"let {name} f x = f(x)", (Function((first,), second), first), second),
                (f"let {name} x = [x, x]", (first,), Array(first)),
                (f"let {name} x = `Some(x)", (first,), option(first)),
            )
        )
        self.helpers.append(Scheme(name, params, result))
        return text

    def reader_statement(self, scope: Scope) -> str:
        """A helper that reads one field of any record which has it."""
        name, label = self.fresh({}), self.pick(LABELS)
        self.readers[label] = name
        return f"let {name} r = r.{label}"


def is_data(kind: Type) -> bool:
    """Whether a type holds no function and no task, so that a cell may hold it."""
    match kind:
        case Function() | Task():
            return False
        case Record(fields):
            return all(is_data(part) for _, part in fields)
        case Variant(cases):
            return all(is_data(part) for _, parts in cases for part in parts)
        case Array(part) | Ref(part):
            return is_data(part)
    return True


Form = Callable[[_Writer, Type, Scope, int], Text]

LITERALS: dict[Type, tuple[str, ...]] = {
    INT: ("0", "1", "2"),
    FLOAT: ("0.0", "1.5"),
    STRING: ('""', '"a"'),
    BOOL: ("true", "false"),
}

FORMS: tuple[Form, ...] = (
    _Writer.builtin,
    _Writer.application,
    _Writer.conditional,
    _Writer.let,
    _Writer.let_function,
    _Writer.matching,
    _Writer.field,
    _Writer.sequence,
    _Writer.element,
    _Writer.dereference,
    _Writer.let_rec,
)

FORMS_OF: dict[type, tuple[Form, ...]] = {
    Record: (_Writer.construct, _Writer.update, _Writer.narrowing_join),
    Variant: (_Writer.construct,),
    Array: (_Writer.construct,),
    Ref: (_Writer.construct,),
    Function: (_Writer.construct, _Writer.construct),
    Task: (_Writer.construct, _Writer.task_binding, _Writer.task_binding),
}

FORMS_OF_SCALARS: dict[Type, tuple[Form, ...]] = {
    INT: (_Writer.arithmetic, _Writer.arithmetic, _Writer.negation),
    FLOAT: (_Writer.arithmetic, _Writer.negation),
    STRING: (_Writer.concatenation,),
    BOOL: (_Writer.comparison, _Writer.comparison, _Writer.logic),
    UNIT: (_Writer.assignment, _Writer.element_write, _Writer.loop),
    JSON: (_Writer.construct,),
}

STATEMENTS: tuple[Callable[[_Writer, Scope], str], ...] = (
    _Writer.value_statement,
    _Writer.function_statement,
    _Writer.print_statement,
    _Writer.recursive_statement,
    _Writer.effect_statement,
    _Writer.polymorphic_statement,
    _Writer.module_statement,
    _Writer.alias_statement,
    _Writer.reader_statement,
)
