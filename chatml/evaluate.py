"""The tree-walking evaluator: the definition of what a script does (language.md section 5).

`Walker.evaluate` is one loop that follows the tail positions, so tail calls take no stack; everything else is a table
of small functions, a node type each. All recursion is from one Python function to another, which uses no C stack: deep
recursion of a script is safe inside `chatml.stack.deep`, up to the `depth` limit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chatml import core
from chatml.arithmetic import OPERATIONS
from chatml.engine import Engine
from chatml.equality import equal
from chatml.errors import Call, RuntimeFailure
from chatml.faults import confusion, describe, not_a_function, wrong_arity
from chatml.limits import Limits
from chatml.source import Span
from chatml.values import BuiltinFailure, BuiltinFunction, Function, Module, Ref, Value, wrap

Frame = list[Any]


class Closure(Function):
    """A function of the script, with the values that it captured, in the order of `Lambda.captures`."""

    __slots__ = ("captured", "code")

    def __init__(self, code: core.Lambda, captured: list[Value]) -> None:
        super().__init__(code.name, code.arity)
        self.code = code
        self.captured = captured


class Walker(Engine):
    """Evaluates one instance of a script. `cells` holds its definitions and builtins."""

    def __init__(self, script: core.Script, cells: list[Value], sink: Callable[[str], object], limits: Limits) -> None:
        super().__init__(sink, limits)
        self.script = script
        self.cells = cells
        self.depth = 0

    # Statements

    def run(self) -> None:
        """Run the top level of the script."""
        self.statements(self.script.statements, [None] * self.script.size)

    def statements(self, statements: tuple[core.Statement, ...], frame: Frame) -> None:
        cells = self.cells
        for statement in statements:
            match statement:
                case core.Define(cell=cell, value=value):
                    cells[cell] = self.evaluate(value, frame, 0)
                case core.Evaluate(value=value):
                    self.evaluate(value, frame, 0)
                case core.DefineRec(cells=group, functions=functions):
                    for cell, function in zip(group, functions, strict=True):
                        cells[cell] = make_closure(self, function, frame, 0)
                case core.DefineModule(cell=cell, name=name, items=items, exports=exports):
                    cells[cell] = module = Module(name)
                    self.statements(items, frame)
                    module.exports.update({label: cells[defined] for label, defined in exports})

    # Calls

    def call(self, function: Value, args: list[Value]) -> Value:
        """Apply a function value on behalf of a builtin or of the host."""
        outer = self.depth
        try:
            if isinstance(function, Closure):
                if len(args) != function.arity:
                    raise wrong_arity(function, len(args), None)
                return self.evaluate(function.code.body, self.enter(function, args, outer, None), outer + 1)
            if isinstance(function, BuiltinFunction):
                return self.call_builtin(function, args, outer, None)
            raise not_a_function(function, None)
        finally:
            self.depth = outer

    def enter(self, closure: Closure, args: list[Value], depth: int, span: Span | None) -> Frame:
        """The frame of a call: the arguments, room for the rest, and the captured values in their slots."""
        budget = self.budget
        if depth >= budget.depth:
            raise budget.exceeded("depth", span)
        budget.steps -= 1
        if budget.steps < 0:
            raise budget.exceeded("steps", span)
        code = closure.code
        frame = args + [None] * (code.size - code.arity)
        for (_, slot), value in zip(code.captures, closure.captured, strict=True):
            frame[slot] = value
        return frame

    def call_builtin(self, builtin: BuiltinFunction, args: list[Value], depth: int, span: Span | None) -> Value:
        """Call a host function; whatever goes wrong in it becomes a failure of the call."""
        if len(args) != builtin.arity:
            raise wrong_arity(builtin, len(args), span)
        self.depth = depth
        function = builtin.function
        try:
            if builtin.uses_machine:
                match args:
                    case []:
                        return function(self)
                    case [a]:
                        return function(self, a)
                    case [a, b]:
                        return function(self, a, b)
                    case [a, b, c]:
                        return function(self, a, b, c)
                return function(self, *args)
            match args:
                case [a]:
                    return function(a)
                case [a, b]:
                    return function(a, b)
            return function(*args)
        except BuiltinFailure as failure:
            raise RuntimeFailure(f"{builtin.name}: {failure.message}", span, code="runtime.builtin") from None
        except RuntimeFailure as failure:
            failure.at(span)
            raise
        except (MemoryError, OverflowError):
            message = f"{builtin.name}: the result is too large to build"
            raise RuntimeFailure(message, span, code="runtime.builtin") from None
        except RecursionError:
            raise
        except Exception as error:
            message = f"{builtin.name}: {error or type(error).__name__}"
            raise RuntimeFailure(message, span, code="runtime.host") from error

    # Expressions

    def evaluate(self, node: core.Expr, frame: Frame, depth: int) -> Value:
        """The value of an expression. `depth` counts the calls that are running around it."""
        running: Call | None = None
        try:
            while True:
                kind = type(node)
                if kind in SIMPLE:
                    return SIMPLE[kind](self, node, frame, depth)
                if kind is core.Call:
                    function = self.evaluate(node.function, frame, depth)
                    args = [self.evaluate(arg, frame, depth) for arg in node.args]
                    if type(function) is Closure:
                        if len(args) != function.arity:
                            raise wrong_arity(function, len(args), node.span)
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
                elif kind is core.If:
                    node = node.then if self.evaluate(node.condition, frame, depth) else node.otherwise
                elif kind is core.Match:
                    value = self.evaluate(node.scrutinee, frame, depth)
                    for arm in node.arms:
                        if matches(arm.pattern, value, frame):
                            node = arm.body
                            break
                    else:
                        raise RuntimeFailure("no arm matches the value", node.span, code="runtime.no_match")
                elif kind is core.Let:
                    frame[node.slot] = self.evaluate(node.value, frame, depth)
                    node = node.body
                elif kind is core.Seq:
                    self.evaluate(node.first, frame, depth)
                    node = node.second
                elif kind is core.And:
                    if not self.evaluate(node.left, frame, depth):
                        return False
                    node = node.right
                elif kind is core.Or:
                    if self.evaluate(node.left, frame, depth):
                        return True
                    node = node.right
                else:
                    bind_group(self, node, frame)
                    node = node.body
        except RuntimeFailure as failure:
            if running is not None:
                failure.trace.append(running)
            raise


def matches(pattern: core.Pattern, value: Value, frame: Frame) -> bool:
    """Whether a value has the shape of a pattern; its variables are put into the frame on the way."""
    match pattern:
        case core.Bind(slot=slot):
            frame[slot] = value
            return True
        case core.Anything():
            return True
        case core.Tagged(tag=tag, args=args):
            if not isinstance(value, tuple) or value[0] != tag or len(value) != len(args) + 1:
                return False
            for position, arg in enumerate(args, 1):
                if not matches(arg, value[position], frame):
                    return False
            return True
        case core.Fields(labels=labels, patterns=patterns, open=is_open):
            if not isinstance(value, dict) or (not is_open and len(value) != len(labels)):
                return False
            for label, field in zip(labels, patterns, strict=True):
                if label not in value or not matches(field, value[label], frame):
                    return False
            return True
        case core.Exactly(value=expected):
            return type(value) is type(expected) and bool(value == expected)


def make_closure(walker: Walker, node: core.Lambda, frame: Frame, depth: int) -> Closure:
    return Closure(node, [frame[slot] for slot, _ in node.captures])


def bind_group(walker: Walker, node: core.LetRec, frame: Frame) -> None:
    """Make the functions of a group; each captures the others once all of them exist."""
    closures = [make_closure(walker, function, frame, 0) for function in node.functions]
    for slot, closure in zip(node.slots, closures, strict=True):
        frame[slot] = closure
    for closure in closures:
        closure.captured = [frame[slot] for slot, _ in closure.code.captures]


def constant(walker: Walker, node: core.Constant, frame: Frame, depth: int) -> Value:
    return node.value


def local(walker: Walker, node: core.Local, frame: Frame, depth: int) -> Value:
    return frame[node.slot]


def global_(walker: Walker, node: core.Global, frame: Frame, depth: int) -> Value:
    return walker.cells[node.cell]


def negate(walker: Walker, node: core.Negate, frame: Frame, depth: int) -> Value:
    operand = walker.evaluate(node.operand, frame, depth)
    try:
        return wrap(-operand) if node.op == "-" else -operand
    except TypeError:
        raise confusion(node.span, "a number", operand) from None


def binary(walker: Walker, node: core.Binary, frame: Frame, depth: int) -> Value:
    left = walker.evaluate(node.left, frame, depth)
    right = walker.evaluate(node.right, frame, depth)
    try:
        return OPERATIONS[node.op](left, right)
    except ZeroDivisionError:
        raise RuntimeFailure("division by zero", node.span, code="runtime.division_by_zero") from None
    except TypeError:
        raise confusion(node.span, "numbers", right if isinstance(left, int | float) else left) from None


def concat(walker: Walker, node: core.Concat, frame: Frame, depth: int) -> Value:
    left = walker.evaluate(node.left, frame, depth)
    right = walker.evaluate(node.right, frame, depth)
    if not isinstance(left, str) or not isinstance(right, str):
        raise confusion(node.span, "strings", right if isinstance(left, str) else left)
    if len(left) + len(right) > walker.budget.text:
        raise walker.budget.exceeded("text", node.span)
    return left + right


def compare(walker: Walker, node: core.Equal, frame: Frame, depth: int) -> Value:
    left = walker.evaluate(node.left, frame, depth)
    right = walker.evaluate(node.right, frame, depth)
    try:
        return (left == right if node.scalar else equal(left, right)) != node.negated
    except BuiltinFailure as failure:
        raise RuntimeFailure(failure.message, node.span, code="runtime.builtin") from None


def loop(walker: Walker, node: core.While, frame: Frame, depth: int) -> Value:
    budget = walker.budget
    while walker.evaluate(node.condition, frame, depth):
        budget.steps -= 1
        if budget.steps < 0:
            raise budget.exceeded("steps", node.span)
        walker.evaluate(node.body, frame, depth)
    return None


def record(walker: Walker, node: core.Record, frame: Frame, depth: int) -> Value:
    values = [walker.evaluate(value, frame, depth) for value in node.values]
    return dict(zip(node.labels, values, strict=True))


def get(walker: Walker, node: core.Get, frame: Frame, depth: int) -> Value:
    value = walker.evaluate(node.record, frame, depth)
    if type(value) is dict:
        kind, fields = "record", value
    elif type(value) is Module:
        kind, fields = f"module {value.name}", value.exports
    else:
        raise confusion(node.span, "a record or a module", value)
    if node.label not in fields:
        raise RuntimeFailure(f"no field `{node.label}` in the {kind}", node.span, code="runtime.no_field")
    return fields[node.label]


def update(walker: Walker, node: core.Update, frame: Frame, depth: int) -> Value:
    base = walker.evaluate(node.record, frame, depth)
    values = [walker.evaluate(value, frame, depth) for value in node.values]
    if type(base) is not dict:
        message = "only a record can be copied with changes, and this is " + describe(base)
        raise RuntimeFailure(message, node.span, code="runtime.not_a_record")
    changed = base.copy()
    changed.update(zip(node.labels, values, strict=True))
    return changed


def variant(walker: Walker, node: core.Variant, frame: Frame, depth: int) -> Value:
    return (node.tag, *[walker.evaluate(arg, frame, depth) for arg in node.args])


def array(walker: Walker, node: core.Array, frame: Frame, depth: int) -> Value:
    return [walker.evaluate(item, frame, depth) for item in node.items]


def index(walker: Walker, node: core.Index, frame: Frame, depth: int) -> Value:
    items = walker.evaluate(node.array, frame, depth)
    return items[checked_index(items, walker.evaluate(node.index, frame, depth), node.span)]


def set_index(walker: Walker, node: core.SetIndex, frame: Frame, depth: int) -> Value:
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
        message = f"index {position} is out of bounds: the array has {len(items)} element{'s' * (len(items) != 1)}"
        raise RuntimeFailure(message, span, code="runtime.out_of_bounds")
    return position


def new_ref(walker: Walker, node: core.NewRef, frame: Frame, depth: int) -> Value:
    return Ref(walker.evaluate(node.value, frame, depth))


def deref(walker: Walker, node: core.Deref, frame: Frame, depth: int) -> Value:
    ref = walker.evaluate(node.ref, frame, depth)
    if not isinstance(ref, Ref):
        raise confusion(node.span, "a ref", ref)
    return ref.content


def set_ref(walker: Walker, node: core.SetRef, frame: Frame, depth: int) -> Value:
    ref = walker.evaluate(node.ref, frame, depth)
    value = walker.evaluate(node.value, frame, depth)
    if not isinstance(ref, Ref):
        raise confusion(node.span, "a ref", ref)
    if walker.journal is not None:
        walker.journal.record(ref)
    ref.content = value
    return None


SIMPLE: dict[type, Callable[[Walker, Any, Frame, int], Value]] = {
    core.Constant: constant,
    core.Local: local,
    core.Global: global_,
    core.Negate: negate,
    core.Binary: binary,
    core.Concat: concat,
    core.Equal: compare,
    core.Lambda: make_closure,
    core.While: loop,
    core.Record: record,
    core.Get: get,
    core.Update: update,
    core.Variant: variant,
    core.Array: array,
    core.Index: index,
    core.SetIndex: set_index,
    core.NewRef: new_ref,
    core.Deref: deref,
    core.SetRef: set_ref,
}
"""The expressions without a tail position."""
