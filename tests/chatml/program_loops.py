"""Programs of ints and loops at random: what the compiling engine reckons about beforehand.

They compute near the ends of an int's range, in refs, parameters of loops, and functions of arrays that are written in
place. Not all of them end: they are to be run with a limit on steps.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
from hypothesis import strategies as st

from tests.chatml.program_choices import Choices, Chooser, DrawnChooser

INTS = ("0", "1", "2", "-1", "3", "7", "1073741823", "4611686018427387903", "(-4611686018427387903 - 1)")
DIVISORS = ("1", "2", "7", "-1", "-3", "4611686018427387903")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
TURNS = ("0", "1", "3", "5")


@attrs.frozen
class Known:
    """The variables in scope: ints, refs to ints, and what may be called for a turn of the loop at hand."""

    ints: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()

    def with_int(self, *names: str) -> Known:
        return attrs.evolve(self, ints=(*self.ints, *names))

    def with_ref(self, name: str) -> Known:
        return attrs.evolve(self, refs=(*self.refs, name))


class LoopWriter(Choices):
    """Writes functions of three ints, and calls of them; `nodes` says how many expressions may still be written."""

    def __init__(self, chooser: Chooser) -> None:
        super().__init__(chooser)
        self.nodes = 60

    def program(self) -> str:
        known = Known(("a", "b", "c")).with_ref("r").with_ref("s")
        body = "; ".join([*[self.action(known, 5) for _ in range(2)], f"print([!r, !s]); {self.value(known, 4)}"])
        calls = [", ".join(self.pick(INTS) for _ in range(3)) for _ in range(2)]
        return f"let main a b c = let r = ref(a) in let s = ref(0) in {body}\n" + "\n".join(
            f"print(main({call}))" for call in calls
        )

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def value(self, known: Known, depth: int) -> str:
        """An int."""
        self.nodes -= 1
        if depth <= 0 or self.nodes <= 0:
            return self.pick([*INTS, *known.ints, *[f"!{ref}" for ref in known.refs]])
        return self.pick(VALUES)(self, known, depth - 1)

    def arithmetic(self, known: Known, depth: int) -> str:
        return f"({self.value(known, depth)} {self.pick('+-*')} {self.value(known, depth)})"

    def division(self, known: Known, depth: int) -> str:
        return f"({self.value(known, depth)} {self.pick('/%')} {self.pick(DIVISORS)})"

    def negation(self, known: Known, depth: int) -> str:
        return f"(-{self.value(known, depth)})"

    def conditional(self, known: Known, depth: int) -> str:
        then, otherwise = self.value(known, depth), self.value(known, depth)
        return f"(if {self.condition(known, depth)} then {then} else {otherwise})"

    def condition(self, known: Known, depth: int) -> str:
        test = f"{self.value(known, depth - 2)} {self.pick(COMPARISONS)} {self.value(known, depth - 2)}"
        return f"({test} {self.pick(('&&', '||'))} {self.condition(known, depth - 2)})" if self.flip(4) else test

    def let(self, known: Known, depth: int) -> str:
        name = self.name()
        return f"(let {name} = {self.value(known, depth)} in {self.value(known.with_int(name), depth)})"

    def let_ref(self, known: Known, depth: int) -> str:
        name = self.name()
        return f"(let {name} = ref({self.value(known, depth - 2)}) in {self.value(known.with_ref(name), depth)})"

    def sequence(self, known: Known, depth: int) -> str:
        return f"({self.action(known, depth)}; {self.value(known, depth)})"

    def element(self, known: Known, depth: int) -> str:
        place = f"if {self.condition(known, depth)} then 1 else {self.pick('0002')}"
        return f"[{self.value(known, depth - 2)}, {self.value(known, depth - 2)}][{place}]"

    def fold(self, known: Known, depth: int) -> str:
        result, element = self.name(), self.name()
        body = self.grown(result, known.with_int(result, element), depth)
        return (
            f"Array.fold({self.array(known, depth)}, {self.value(known, depth - 2)}, fun {result} {element} -> {body})"
        )

    def tail_loop(self, known: Known, depth: int) -> str:
        """A function that counts down, gathers something, and calls itself at its end."""
        loop, left, result = self.name(), self.name(), self.name()
        inner = known.with_int(left, result)
        inner = attrs.evolve(inner, refs=())
        again = f"{loop}({left} - 1, {self.grown(result, inner, depth)})"
        if self.flip(3):
            again = f"if {self.condition(inner, depth)} then {self.value(inner, depth)} else {again}"
        end = f"if {left} {self.pick(('<=', '=='))} 0 then {self.value(inner, depth)} else {again}"
        return f"(let rec {loop} {left} {result} = {end} in {loop}({self.pick(TURNS)}, {self.value(known, depth)}))"

    def call(self, known: Known, depth: int) -> str:
        """A function that captures what is in scope, called."""
        function, param = self.name(), self.name()
        body = self.value(known.with_int(param), depth)
        return f"(let {function} {param} = {body} in {self.pick(('', '-'))}{function}({self.value(known, depth)}))"

    def grown(self, variable: str, known: Known, depth: int) -> str:
        """A new value for a variable, most often a sum."""
        part = self.value(known, depth - 1)
        forms = (f"{variable} + {part}", f"{variable} - {part}", f"{part} + {variable}", part, f"{variable} * {part}")
        whole = self.pick(forms)
        return f"(if {self.condition(known, depth - 1)} then {whole} else {variable})" if self.flip(4) else f"({whole})"

    def array(self, known: Known, depth: int) -> str:
        inner = depth - 2
        index = self.name()
        return self.pick(
            (
                f"[{self.value(known, inner)}, {self.value(known, inner)}, {self.value(known, inner)}]",
                f"Array.init({self.pick(TURNS)}, fun {index} -> {self.value(known.with_int(index), inner)})",
                f"Array.map([1, {self.value(known, 1)}], fun {index} -> {self.value(known.with_int(index), inner)})",
                f"Array.filter([1, 2, 3], fun {index} -> {self.condition(known.with_int(index), inner)})",
            )
        )

    # Actions

    def action(self, known: Known, depth: int) -> str:
        """Something of type unit."""
        self.nodes -= 1
        if not known.refs:
            return "()"
        return self.pick(ACTIONS if depth > 0 else ACTIONS[:1])(self, known, depth - 1)

    def assignment(self, known: Known, depth: int) -> str:
        ref = self.pick(known.refs)
        return f"{ref} := {self.grown(f'!{ref}', known, depth)}"

    def actions(self, known: Known, depth: int) -> str:
        return f"({self.action(known, depth)}; {self.action(known, depth)})"

    def counting(self, known: Known, depth: int) -> str:
        """A loop as people write it, over a counter that its body may write, too."""
        counter = self.name()
        inner = known.with_ref(counter) if self.flip(3) else attrs.evolve(known, ints=(*known.ints, f"!{counter}"))
        step, test = self.pick((("+ 1", "< 3"), ("+ 2", "<= 4"), ("- 1", "> -3"), ("+ 1", "!= 2")))
        body = self.action(inner, depth)
        loop = f"while !{counter} {test} do {body}; {counter} := !{counter} {step} done"
        return f"(let {counter} = ref({self.pick(INTS) if self.flip(6) else '0'}) in {loop})"

    def waiting(self, known: Known, depth: int) -> str:
        """A loop with any condition, which may not end, but is seldom let go on for ever."""
        condition, body = self.condition(known, depth), self.action(known, depth)
        if self.flip(6):
            return f"while {condition} do {body} done"
        left = self.name()
        loop = f"while !{left} > 0 && {condition} do {left} := !{left} - 1; {body} done"
        return f"(let {left} = ref({self.pick(TURNS)}) in {loop})"

    def traversal(self, known: Known, depth: int) -> str:
        element = self.name()
        return f"Array.iter({self.array(known, depth)}, fun {element} -> {self.action(known.with_int(element), depth)})"

    def choice(self, known: Known, depth: int) -> str:
        branches = self.action(known, depth), self.action(known, depth)
        return f"(if {self.condition(known, depth)} then {branches[0]} else {branches[1]})"


VALUES: tuple[Callable[[LoopWriter, Known, int], str], ...] = (
    LoopWriter.arithmetic,
    LoopWriter.division,
    LoopWriter.conditional,
    LoopWriter.let,
    LoopWriter.let_ref,
    LoopWriter.let_ref,
    LoopWriter.sequence,
    LoopWriter.sequence,
    LoopWriter.sequence,
    LoopWriter.negation,
    LoopWriter.element,
    LoopWriter.fold,
    LoopWriter.tail_loop,
    LoopWriter.tail_loop,
    LoopWriter.call,
)
ACTIONS: tuple[Callable[[LoopWriter, Known, int], str], ...] = (
    LoopWriter.assignment,
    LoopWriter.actions,
    LoopWriter.counting,
    LoopWriter.counting,
    LoopWriter.waiting,
    LoopWriter.traversal,
    LoopWriter.choice,
)


@st.composite
def loop_programs(draw: Callable[[st.SearchStrategy[int]], int]) -> str:
    """The text of a program of loops."""
    return LoopWriter(DrawnChooser(draw)).program()
