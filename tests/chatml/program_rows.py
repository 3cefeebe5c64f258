"""Programs at random in which rows meet: updates, joins, recursion, folds, callbacks; not all are well typed."""

from __future__ import annotations

from collections.abc import Callable

from tests.chatml.program_choices import Choices, Chooser

FIELDS = ("a", "b", "c")
RECORDS = (
    "{ a = 1 }",
    "{ b = 1 }",
    "{ a = 1; b = 2; c = 3 }",
    "{ a = { a = 1 }; b = 2 }",
    '{ a = 1; b = true; c = "s" }',
)
OPERATIONS = (" + 1", " && true", ' ++ "s"', ".a + 1")
CONSTANTS = ("1", "true", '"s"')
PARTS = ("1", "1", "1", "2", "true", '"s"', "`A", "[]")


class RowWriter:
    """Writes one program. Every name in it is bound; what is made of it is anybody's guess."""

    def __init__(self, chooser: Chooser) -> None:
        self.choices = Choices(chooser)
        self.pick = self.choices.pick
        self.below = chooser.below
        self.functions: dict[str, int] = {}
        self.values: list[str] = []

    def program(self) -> str:
        """A few functions, and calls of them."""
        lines = [self.definition() for _ in range(1 + self.below(3))]
        lines += [self.use() for _ in range(self.below(4))]
        return "\n".join(lines)

    def definition(self) -> str:
        name = f"f{len(self.functions)}"
        params = ["x", "y", "z"][: 1 + self.below(3)]
        recursive = self.choices.flip(3)
        if recursive:
            self.functions[name] = len(params)
        body = self.expression(1 + self.below(3), params)
        self.functions[name] = len(params)
        return f"let {'rec ' if recursive else ''}{name} {' '.join(params)} = {body}"

    def use(self) -> str:
        if not self.below(3):
            return f"print({self.call(1, [])}.{self.pick(FIELDS)}{self.pick(OPERATIONS)})"
        name = f"v{len(self.values)}"
        text = f"let {name} = {self.expression(1 + self.below(2), [])}\nprint({name})"
        self.values.append(name)
        return text

    def expression(self, depth: int, scope: list[str]) -> str:
        if depth <= 0:
            return self.pick([*scope * 4, *self.values, *RECORDS])
        return self.pick(FORMS)(self, depth - 1, scope)

    def part(self, depth: int, scope: list[str]) -> str:
        """What a field holds: a number as a rule, for those agree."""
        return self.pick(PARTS) if self.below(3) else self.expression(depth, scope)

    def leaf(self, depth: int, scope: list[str]) -> str:
        return self.expression(0, scope)

    def field(self, depth: int, scope: list[str]) -> str:
        return f"{self.expression(0, scope)}.{self.pick(FIELDS)}"

    def update(self, depth: int, scope: list[str]) -> str:
        fields = "; ".join(f"{label} = {self.part(depth, scope)}" for label in self.choices.some(FIELDS) or "a")
        return f"{{ {self.expression(0, scope)} with {fields} }}"

    def record(self, depth: int, scope: list[str]) -> str:
        fields = "; ".join(f"{label} = {self.part(depth, scope)}" for label in self.choices.some(FIELDS))
        return f"{{ {fields} }}"

    def condition(self, depth: int, scope: list[str]) -> str:
        return f"(if {self.test(scope)} then {self.expression(depth, scope)} else {self.expression(depth, scope)})"

    def test(self, scope: list[str]) -> str:
        return self.pick(["true", "false", "true", f"{self.expression(0, scope)} == {self.expression(0, scope)}"])

    def match(self, depth: int, scope: list[str]) -> str:
        pattern, bound = self.pick([("{ a = p; _ }", ["p"]), ("{ a = p; b = q }", ["p", "q"]), ("`B(p)", ["p"])])
        first = self.expression(depth, [*scope, *bound])
        return f"(match {self.expression(0, scope)} with | {pattern} -> {first} | _ -> {self.expression(depth, scope)})"

    def array(self, depth: int, scope: list[str]) -> str:
        return f"[{self.expression(depth, scope)}, {self.expression(depth, scope)}]"

    def element(self, depth: int, scope: list[str]) -> str:
        return f"({self.expression(depth, scope)})[0]"

    def local(self, depth: int, scope: list[str]) -> str:
        return f"(let l = {self.expression(depth, scope)} in {self.expression(depth, [*scope, 'l'])})"

    def sequence(self, depth: int, scope: list[str]) -> str:
        return f"({self.expression(depth, scope)}; {self.expression(depth, scope)})"

    def call(self, depth: int, scope: list[str]) -> str:
        if not self.functions:
            return self.update(depth, scope)
        name = self.pick([*self.functions])
        arguments = ", ".join(self.expression(depth, scope) for _ in range(self.functions[name]))
        return f"{name}({arguments})"

    def fold(self, depth: int, scope: list[str]) -> str:
        items, start = self.expression(0, scope), self.expression(depth, scope)
        return f"Array.fold([{items}], {start}, fun acc i -> {self.expression(depth, [*scope, 'acc', 'i'])})"

    def map(self, depth: int, scope: list[str]) -> str:
        return f"Array.map([{self.expression(0, scope)}], fun i -> {self.expression(depth, [*scope, 'i'])})"

    def callback(self, depth: int, scope: list[str]) -> str:
        return f"(fun g -> g({self.expression(depth, scope)}))(fun i -> {self.expression(depth, [*scope, 'i'])})"

    def task(self, depth: int, scope: list[str]) -> str:
        return f"Task.pure({self.expression(depth, scope)})"

    def number(self, depth: int, scope: list[str]) -> str:
        return f"({self.expression(0, scope)}.{self.pick(FIELDS)} + 1)"

    def cell(self, depth: int, scope: list[str]) -> str:
        new = self.expression(depth, [*scope, "!l"])
        return f"(let l = ref({self.expression(depth, scope)}) in l := {new}; !l)"


FORMS: tuple[Callable[[RowWriter, int, list[str]], str], ...] = (
    RowWriter.leaf,
    RowWriter.field,
    RowWriter.update,
    RowWriter.condition,
    RowWriter.update,
    RowWriter.condition,
    RowWriter.call,
    RowWriter.record,
    RowWriter.match,
    RowWriter.array,
    RowWriter.element,
    RowWriter.local,
    RowWriter.sequence,
    RowWriter.fold,
    RowWriter.map,
    RowWriter.callback,
    RowWriter.task,
    RowWriter.cell,
    RowWriter.number,
)


class HelperWriter:
    """Writes helpers that pass records on, most of them well typed, and reads of fields from what they give back."""

    def __init__(self, chooser: Chooser) -> None:
        self.pick = Choices(chooser).pick
        self.below = chooser.below
        self.helpers = 0

    def program(self) -> str:
        """Up to three helpers, each of which may call those before it, and a read of a field from a call of one."""
        lines = []
        for number in range(1 + self.below(3)):
            lines.append(f"let f{number} x y = {self.passed(2)}")
            self.helpers += 1
        call = f"f{self.below(self.helpers)}({self.record()}, {self.record()})"
        return "\n".join([*lines, f"let r = {call}", f"print(r.{self.pick(FIELDS)}{self.pick(OPERATIONS[:3])})"])

    def record(self) -> str:
        fields = "; ".join(f"{label} = {self.pick(CONSTANTS)}" for label in FIELDS[1:] if self.below(2))
        return f"{{ a = 1; {fields} }}"

    def passed(self, depth: int) -> str:
        """A record that a helper makes of its parameters."""
        if depth < 0 or not self.below(4):
            return self.pick(["x", "x", "y", self.record()])
        one, other = self.passed(depth - 1), self.passed(depth - 1)
        forms = [
            f"(if {self.pick(['x.a == 1', 'y.a == 2', 'true', 'false'])} then {one} else {other})",
            f"{{ {self.pick('xy')} with {self.pick(FIELDS)} = {self.pick(CONSTANTS)} }}",
            f"(let k = x.{self.pick(FIELDS)} in {one})",
            f"(let k : {{ a : int }} = {self.pick('xy')} in {self.pick(['k', one])})",
            f"[{one}, {other}][0]",
            f"(let k = ref({one}) in k := {other}; !k)",
            f"(match {self.pick('xy')} with | {{ a = 1; _ }} -> {one} | _ -> {other})",
        ]
        if self.helpers:
            forms.append(f"f{self.below(self.helpers)}({one}, {other})")
        return self.pick(forms)
