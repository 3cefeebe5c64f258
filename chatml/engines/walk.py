"""The tree-walking evaluator: the definition of what a script does (language.md section 5).

`Walker.evaluate` is one loop that follows the tail positions, so tail calls take no stack; everything else is a table
of small functions, a node type each. All recursion is from one Python function to another, which uses no C stack: deep
recursion of a script is safe inside `chatml.stack.deep`, up to the `depth` limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chatml.core import nodes
from chatml.diagnostics.errors import Call, RuntimeFailure
from chatml.engines.callers import caller, gatherer
from chatml.engines.engine import Engine
from chatml.source import Span
from chatml.stack import deep
from chatml.values.arithmetic import OPERATIONS, number_of
from chatml.values.equality import equal
from chatml.values.failures import (
    TOO_LARGE,
    builtin_failed,
    confusion,
    division_by_zero,
    host_failed,
    no_field,
    no_match,
    not_a_function,
    not_a_record,
    out_of_bounds,
    wrong_arity,
)
from chatml.values.limits import Limits
from chatml.values.model import BuiltinFailure, BuiltinFunction, Function, ModuleValue, Ref, Value, wrap

Frame = list[Any]

FRAMES_TO_SPARE = 50_000
"""How many frames of the host evaluation may take for deep expressions, besides those for each call of the script."""


class Closure(Function):
    """A function of the script, with the values that it captured, in the order of `Lambda.captures`."""

    __slots__ = ("captured", "code")

    def __init__(self, code: nodes.Lambda, captured: list[Value]) -> None:
        super().__init__(code.name, code.arity)
        self.code = code
        self.captured = captured


class Walker(Engine):
    """Evaluates one instance of a script. `cells` holds its definitions and builtins, `depth` the calls running."""

    frames_per_call = 14

    def __init__(
        self, script: nodes.Script, builtins: Mapping[int, Value], sink: Callable[[str], object], limits: Limits
    ) -> None:
        super().__init__(sink, limits)
        self.script = script
        self.cells: list[Value] = [builtins.get(cell) for cell in range(script.cells)]
        self.depth = 0

    def read(self, cell: int) -> Value:
        return self.cells[cell]

    # Statements

    def run(self) -> None:
        self.guard(lambda: self.statements(self.script.statements, [None] * self.script.size))

    def protect(self, action: Callable[[], Value]) -> Value:
        try:
            with deep(self.budget.depth * self.frames_per_call + FRAMES_TO_SPARE):
                return action()
        except RecursionError:
            raise self.budget.exceeded("depth") from None

    def statements(self, statements: tuple[nodes.Statement, ...], frame: Frame) -> None:
        cells = self.cells
        for statement in statements:
            match statement:
                case nodes.Define(cell=cell, value=value):
                    cells[cell] = self.evaluate(value, frame, 0)
                case nodes.Evaluate(value=value):
                    self.evaluate(value, frame, 0)
                case nodes.DefineRec(cells=group, functions=functions):
                    for cell, function in zip(group, functions, strict=True):
                        cells[cell] = make_closure(self, function, frame, 0)
                case nodes.DefineModule(cell=cell, name=name, items=items, exports=exports):
                    cells[cell] = module = ModuleValue(name)
                    self.statements(items, frame)
                    module.exports.update({label: cells[defined] for label, defined in exports})

    # Calls

    def call(self, function: Value, args: list[Value]) -> Value:
        outer = self.depth
        try:
            if isinstance(function, Closure):
                if len(args) != function.arity:
                    raise wrong_arity(function.arity, len(args), None)
                return self.evaluate(function.code.body, self.enter(function, args, outer, None), outer + 1)
            if isinstance(function, BuiltinFunction):
                return self.call_builtin(function, args, outer, None)
            raise not_a_function(function, None)
        finally:
            self.depth = outer

    def function(self, function: Value, arity: int) -> Callable[..., Value]:
        return gatherer(arity)(lambda args: self.call(function, list(args)))

    def enter(self, closure: Closure, args: list[Value], depth: int, span: Span | None) -> Frame:
        """The frame of a call: the arguments, room for the rest, and the captured values in their slots."""
        budget = self.budget
        if depth >= budget.depth:
            raise budget.exceeded("depth", span)
        if next(budget.steps, None) is None:
            raise budget.exceeded("steps", span)
        code = closure.code
        frame = args + [None] * (code.size - code.arity)
        for (_, slot), value in zip(code.captures, closure.captured, strict=True):
            frame[slot] = value
        return frame

    def call_builtin(self, builtin: BuiltinFunction, args: list[Value], depth: int, span: Span | None) -> Value:
        """Call a host function; whatever goes wrong in it becomes a failure of the call."""
        if len(args) != builtin.arity:
            raise wrong_arity(builtin.arity, len(args), span)
        self.depth = depth
        try:
            if builtin.uses_machine:
                return caller(builtin.arity + 1)(builtin.function, [self, *args])
            return caller(builtin.arity)(builtin.function, args)
        except BuiltinFailure as failure:
            raise builtin_failed(builtin.name, failure.message, span) from None
        except RuntimeFailure as failure:
            failure.at(span)
            raise
        except (MemoryError, OverflowError):
            raise builtin_failed(builtin.name, TOO_LARGE, span) from None
        except RecursionError:
            raise
        except Exception as error:
            raise host_failed(builtin.name, error, span) from error

    # Expressions

    def evaluate(self, node: nodes.Expr, frame: Frame, depth: int) -> Value:
        """The value of an expression. `depth` counts the calls that are running around it."""
        running: Call | None = None
        try:
            while True:
                simple = SIMPLE.get(type(node))
                if simple is not None:
                    return simple(self, node, frame, depth)
                if isinstance(node, nodes.Call):
                    function = self.evaluate(node.function, frame, depth)
                    args = [self.evaluate(arg, frame, depth) for arg in node.args]
                    if type(function) is Closure:
                        if len(args) != function.arity:
                            raise wrong_arity(function.arity, len(args), node.span)
                        if running is None:
                            frame = self.enter(function, args, depth, node.span)
                            depth += 1
                        else:
                            frame = self.enter(function, args, depth - 1, node.span)
                        running = Call(function.name, node.span)
                        node = function.code.body
                    elif isinstance(function, BuiltinFunction):
                        return self.call_builtin(function, args, depth, node.span)
                    else:
                        raise not_a_function(function, node.span)
                elif isinstance(node, nodes.If):
                    node = node.then if self.truth(node.condition, frame, depth) else node.otherwise
                elif isinstance(node, nodes.Match):
                    value = self.evaluate(node.scrutinee, frame, depth)
                    for arm in node.arms:
                        if matches(arm.pattern, value, frame):
                            node = arm.body
                            break
                    else:
                        raise no_match(node.span)
                elif isinstance(node, nodes.Let):
                    frame[node.slot] = self.evaluate(node.value, frame, depth)
                    node = node.body
                elif isinstance(node, nodes.Seq):
                    self.evaluate(node.first, frame, depth)
                    node = node.second
                elif isinstance(node, nodes.And):
                    if not self.truth(node.left, frame, depth):
                        return False
                    node = node.right
                elif isinstance(node, nodes.Or):
                    if self.truth(node.left, frame, depth):
                        return True
                    node = node.right
                elif isinstance(node, nodes.LetRec):
                    bind_group(self, node, frame)
                    node = node.body
        except RuntimeFailure as failure:
            if running is not None:
                failure.trace.append(running)
            raise

    def truth(self, node: nodes.Expr, frame: Frame, depth: int) -> bool:
        """The value of a condition."""
        value = self.evaluate(node, frame, depth)
        if type(value) is not bool:
            raise confusion(node.span, "a bool", value)
        return value


def matches(pattern: nodes.Pattern, value: Value, frame: Frame) -> bool:
    """Whether a value has the shape of a pattern; its variables are put into the frame on the way."""
    match pattern:
        case nodes.Bind(slot=slot):
            frame[slot] = value
            return True
        case nodes.Anything():
            return True
        case nodes.Tagged(tag=tag, args=args):
            if not isinstance(value, tuple) or value[0] != tag or len(value) != len(args) + 1:
                return False
            for position, arg in enumerate(args, 1):
                if not matches(arg, value[position], frame):
                    return False
            return True
        case nodes.Fields(labels=labels, patterns=patterns, open=is_open):
            if not isinstance(value, dict) or (not is_open and len(value) != len(labels)):
                return False
            for label, field in zip(labels, patterns, strict=True):
                if label not in value or not matches(field, value[label], frame):
                    return False
            return True
        case nodes.Exactly(value=expected):
            return type(value) is type(expected) and bool(value == expected)


def make_closure(walker: Walker, node: nodes.Lambda, frame: Frame, depth: int) -> Closure:
    return Closure(node, [frame[slot] for slot, _ in node.captures])


def bind_group(walker: Walker, node: nodes.LetRec, frame: Frame) -> None:
    """Make the functions of a group; each captures the others once all of them exist."""
    closures = [make_closure(walker, function, frame, 0) for function in node.functions]
    for slot, closure in zip(node.slots, closures, strict=True):
        frame[slot] = closure
    for closure in closures:
        closure.captured = [frame[slot] for slot, _ in closure.code.captures]


def constant(walker: Walker, node: nodes.Constant, frame: Frame, depth: int) -> Value:
    return node.value


def local(walker: Walker, node: nodes.Local, frame: Frame, depth: int) -> Value:
    return frame[node.slot]


def global_(walker: Walker, node: nodes.Global, frame: Frame, depth: int) -> Value:
    return walker.cells[node.cell]


def negate(walker: Walker, node: nodes.Negate, frame: Frame, depth: int) -> Value:
    operand = walker.evaluate(node.operand, frame, depth)
    number = number_of(node.op)
    if not of_kind(operand, number):
        raise confusion(node.span, NUMBERS[number][0], operand)
    return wrap(-operand) if number is int else -operand


def binary(walker: Walker, node: nodes.Binary, frame: Frame, depth: int) -> Value:
    left = walker.evaluate(node.left, frame, depth)
    right = walker.evaluate(node.right, frame, depth)
    number = number_of(node.op)
    for operand in (left, right):
        if not of_kind(operand, number):
            raise confusion(node.span, NUMBERS[number][1], operand)
    try:
        return OPERATIONS[node.op](left, right)
    except ZeroDivisionError:
        raise division_by_zero(node.span) from None


def of_kind(value: Value, kind: type) -> bool:
    """Whether a value is of exactly this kind: for Python a bool is an int, too."""
    return type(value) is kind


NUMBERS = {int: ("an int", "ints"), float: ("a float", "floats")}


def concat(walker: Walker, node: nodes.Concat, frame: Frame, depth: int) -> Value:
    left = walker.evaluate(node.left, frame, depth)
    right = walker.evaluate(node.right, frame, depth)
    if not isinstance(left, str) or not isinstance(right, str):
        raise confusion(node.span, "strings", right if isinstance(left, str) else left)
    if len(left) + len(right) > walker.budget.text:
        raise walker.budget.exceeded("text", node.span)
    return left + right


def compare(walker: Walker, node: nodes.Equal, frame: Frame, depth: int) -> Value:
    left = walker.evaluate(node.left, frame, depth)
    right = walker.evaluate(node.right, frame, depth)
    try:
        return equal(left, right, walker.charge) != node.negated
    except BuiltinFailure as failure:
        raise RuntimeFailure(failure.message, node.span, code="runtime.builtin") from None


def loop(walker: Walker, node: nodes.While, frame: Frame, depth: int) -> Value:
    budget = walker.budget
    while walker.truth(node.condition, frame, depth):
        if next(budget.steps, None) is None:
            raise budget.exceeded("steps", node.span)
        walker.evaluate(node.body, frame, depth)
    return None


def record(walker: Walker, node: nodes.Record, frame: Frame, depth: int) -> Value:
    values = [walker.evaluate(value, frame, depth) for value in node.values]
    return dict(zip(node.labels, values, strict=True))


def get(walker: Walker, node: nodes.Get, frame: Frame, depth: int) -> Value:
    value = walker.evaluate(node.record, frame, depth)
    if type(value) is dict:
        fields = value
    elif type(value) is ModuleValue:
        fields = value.exports
    else:
        raise confusion(node.span, "a record or a module", value)
    if node.label not in fields:
        raise no_field(node.label, node.span)
    return fields[node.label]


def update(walker: Walker, node: nodes.Update, frame: Frame, depth: int) -> Value:
    base = walker.evaluate(node.record, frame, depth)
    values = [walker.evaluate(value, frame, depth) for value in node.values]
    if type(base) is not dict:
        raise not_a_record(base, node.span)
    changed = base.copy()
    changed.update(zip(node.labels, values, strict=True))
    return changed


def variant(walker: Walker, node: nodes.Variant, frame: Frame, depth: int) -> Value:
    return (node.tag, *[walker.evaluate(arg, frame, depth) for arg in node.args])


def array(walker: Walker, node: nodes.Array, frame: Frame, depth: int) -> Value:
    return [walker.evaluate(item, frame, depth) for item in node.items]


def index(walker: Walker, node: nodes.Index, frame: Frame, depth: int) -> Value:
    items = walker.evaluate(node.array, frame, depth)
    return items[checked_index(items, walker.evaluate(node.index, frame, depth), node.span)]


def set_index(walker: Walker, node: nodes.SetIndex, frame: Frame, depth: int) -> Value:
    items = walker.evaluate(node.array, frame, depth)
    position = walker.evaluate(node.index, frame, depth)
    value = walker.evaluate(node.value, frame, depth)
    checked_index(items, position, node.span)
    if walker.journal is not None:
        walker.journal.record(items)
    items[position] = value
    return None


def checked_index(items: Value, position: Value, span: Span) -> int:
    """The index, if it lies within the array."""
    if type(items) is not list or type(position) is not int:
        raise confusion(span, "an array and an int", position if type(items) is list else items)
    if not 0 <= position < len(items):
        raise out_of_bounds(position, len(items), span)
    return position


def new_ref(walker: Walker, node: nodes.NewRef, frame: Frame, depth: int) -> Value:
    return Ref(walker.evaluate(node.value, frame, depth))


def deref(walker: Walker, node: nodes.Deref, frame: Frame, depth: int) -> Value:
    ref = walker.evaluate(node.ref, frame, depth)
    if not isinstance(ref, Ref):
        raise confusion(node.span, "a ref", ref)
    return ref.content


def set_ref(walker: Walker, node: nodes.SetRef, frame: Frame, depth: int) -> Value:
    ref = walker.evaluate(node.ref, frame, depth)
    value = walker.evaluate(node.value, frame, depth)
    if not isinstance(ref, Ref):
        raise confusion(node.span, "a ref", ref)
    if walker.journal is not None:
        walker.journal.record(ref)
    ref.content = value
    return None


SIMPLE: dict[type, Callable[[Walker, Any, Frame, int], Value]] = {
    nodes.Constant: constant,
    nodes.Local: local,
    nodes.Global: global_,
    nodes.Negate: negate,
    nodes.Binary: binary,
    nodes.Concat: concat,
    nodes.Equal: compare,
    nodes.Lambda: make_closure,
    nodes.While: loop,
    nodes.Record: record,
    nodes.Get: get,
    nodes.Update: update,
    nodes.Variant: variant,
    nodes.Array: array,
    nodes.Index: index,
    nodes.SetIndex: set_index,
    nodes.NewRef: new_ref,
    nodes.Deref: deref,
    nodes.SetRef: set_ref,
}
"""The expressions without a tail position."""
