"""Known traps, and what to do about them (language.md sections 1.2, 2.2, 2.3).

A trap is recognised by the text around a fault and by the types that do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from chatml.diagnostics.suggest import did_you_mean
from chatml.source import Span
from chatml.syntax import ast
from chatml.types.facts import Mismatch, UnknownConstructor, UnknownType, UnknownVariable
from chatml.types.model import Array, Bool, Con, Float, Fun, Int, Record, Ref, String, Type, Unit, Variant
from chatml.types.report.habits import CONSTRUCTORS, EXPORTS, TYPES, VARIABLES, absent_export, export_habit
from chatml.types.report.surfaces import SURFACE_TYPES, surface_help
from chatml.types.report.words import Words, breaks_line, last_of, name_of
from chatml.types.show import flatten
from chatml.types.variables import resolved, unfolded

LITERALS = {
    "x": "there are no hexadecimal literals: write the number in decimal",
    "_": "digits cannot be grouped with `_`: write them without",
    "e": "floats have no exponent: write all digits",
    "b": "there are no binary literals: write the number in decimal",
    "o": "there are no octal literals: write the number in decimal",
}
Around = Sequence[Any]
"""The nodes around a place, outermost first."""


def nodes_around(script: ast.Script, span: Span) -> Around:
    """The nodes of a script that contain a span, outermost first."""
    found: list[Any] = []
    node: Any = script
    while node is not None:
        found.append(node)
        inside = [part for part in ast.children(node) if contains(part.span, span)]
        node = inside[-1] if inside else None
    return found[1:]


def contains(outer: Span, inner: Span) -> bool:
    """Whether a place lies within another; the statements of a session come from several texts."""
    return outer.source is inner.source and outer.left <= inner.left and inner.right <= outer.right


# Names


def variable_help(problem: UnknownVariable, around: Around) -> str | None:
    """What an unknown name may be about."""
    name, span = problem.name, problem.span
    if span.left and span.source.text[span.left - 1].isdigit() and name[0] in LITERALS:
        return LITERALS[name[0]]
    if name in ("f", "r", "b", "s") and span.source.text.startswith('"', span.right):
        return "a string has no prefix; strings are joined with `++`, and `to_string` makes one of any value"
    for node in around:
        if isinstance(node, ast.LetStatement | ast.Let) and node.name.name == name and is_around(node.value, span):
            return own_name_help(node)
    if problem.exporters:
        exports = " or ".join([f"`{module}.{name}`" for module in problem.exporters[:3]])
        return f"write {exports}, or open the module first"
    surface = surface_help(name)
    if surface is not None:
        return surface
    if name in VARIABLES:
        return VARIABLES[name]
    if problem.near:
        return did_you_mean(name, problem.near)
    if name[0].isupper() and not problem.opened:
        return f"a tag of a variant begins with a backtick: `{name}"
    return None


def is_around(node: Any, span: Span) -> bool:
    return bool(node.span.left <= span.left and span.right <= node.span.right)


def own_name_help(node: ast.LetStatement | ast.Let) -> str:
    """A name is not known in its own definition; a `;` may have made that longer than it looks."""
    name = node.name.name
    match node.value:
        case ast.Seq():
            return f"the `;` makes what follows a part of the definition of `{name}`: leave it out"
        case ast.Lambda() | ast.Annot(ast.Lambda()):
            return f"a function that calls itself is defined with `let rec {name}`"
    return f"`{name}` is not known in its own definition"


def constructor_help(problem: UnknownConstructor) -> str:
    """What an unknown type constructor may be about."""
    if problem.declaration and problem.value:
        return (
            f"the type declaration goes on with `{problem.name}`, because a lower-case name continues a type: "
            "put a `let`, another `type` or a `module` in between"
        )
    return CONSTRUCTORS.get(problem.name, "the type constructors are `array` and `task`")


def type_help(problem: UnknownType) -> str:
    """What an unknown type may be about."""
    name = problem.name
    if name in ("array", "task"):
        return f"`{name}` stands after the type that it is of: `int {name}`"
    if name in CONSTRUCTORS:
        return f"a type constructor stands after its argument; {CONSTRUCTORS[name]}"
    if name in TYPES:
        return TYPES[name]
    surface = surface_help(name, SURFACE_TYPES)
    if surface is not None:
        return surface
    return did_you_mean(name, problem.near) or "a type is declared before it is used: `type t = ...`"


def export_help(node: Any, exports: Mapping[str, Type], words: Words) -> str | None:
    """What a module has instead of an export that it does not have."""
    if not isinstance(node, ast.FieldGet) or not isinstance(node.record, ast.Name):
        return None
    module, label = node.record.name, node.label.name
    own = export_habit(module, label, exports)
    if own is not None:
        return f"write `{module}.{own}`, which is {words.a(exports[own])}"
    return absent_export(module, label)


# Types that do not fit


def operand_help(node: Any, found: Type, wanted: Type) -> str | None:
    """An operator on operands of another type than its own."""
    op = getattr(node, "op", None)
    if op == "-" and isinstance(node, ast.Neg) and found is Float:
        return "the minus of a float is `-.`"
    if op == "+" and found is String:
        return "strings are joined with `++`"
    if op == "++" and not isinstance(found, Fun):
        return "`to_string` makes a string of any value"
    if isinstance(op, str) and wanted is Int and found is Float and op != "%":
        return f"the operator for floats is `{op}.`"
    if isinstance(op, str) and wanted is Float and found is Int:
        return f"the operator for ints is `{op.removesuffix('.')}`; a float is written with a point: `1.0`"
    return swallowed_help(node)


def swallowed_help(node: Any) -> str | None:
    """`ref a + b` is `ref (a + b)`."""
    for operand in (getattr(node, "left", None), getattr(node, "right", None)):
        while isinstance(operand, ast.Deref):
            operand = operand.ref
        if isinstance(operand, ast.Ref) and isinstance(operand.value, ast.Binary | ast.And | ast.Or):
            return "`ref` takes everything to its right: put it in parentheses with its operand, `(ref(x)) + y`"
    return None


def read_help(node: ast.FieldGet | ast.Deref, base: Type) -> str | None:
    """`!` and `:=` against fields: `!r.f` is `!(r.f)`, and `!r := 1` is `!(r := 1)`."""
    if isinstance(node, ast.FieldGet):
        text, label = name_of(node.record) or "x", node.label.name
        if isinstance(base, Ref):
            return f"`!{text}.{label}` is `!({text}.{label})`: write `(!{text}).{label}`"
        for kind, module in ((Array, "Array"), (type(String), "String")):
            if isinstance(base, kind) and base not in (Int, Float, Bool, Unit):
                own = label if label in EXPORTS[module] else export_habit(module, label, EXPORTS[module])
                if own is not None:
                    return f"there are no methods: write `{module}.{own}(...)`"
                return f"there are no methods: the functions for this are in the module `{module}`"
        return json_help(node) if is_json(base) else None
    if isinstance(node.ref, ast.SetRef):
        text = name_of(node.ref.ref) or "x"
        return f"`!{text} := ...` is `!({text} := ...)`: to set the ref, write `{text} := ...`"
    if base is Bool:
        return "`!` is not negation: write `not(x)`"
    return None


def is_json(type: Type) -> bool:
    """Whether a type is that of JSON."""
    known = unfolded(type)
    return isinstance(known, Variant) and {"Array", "Null", "Object"} <= flatten(known.row)[0].keys()


def json_help(node: ast.FieldGet | ast.ArrayGet | ast.ArraySet, key: str | None = None) -> str:
    """How the JSON that something is read from is read; `x.args` is that of a tool call."""
    record = node.record if isinstance(node, ast.FieldGet) else node.array
    key = key or (node.label.name if isinstance(node, ast.FieldGet) else "name")
    if isinstance(record, ast.FieldGet) and record.label.name == "args":
        call = name_of(record.record) or "call"
        return f'write `Tool_call.arg_string({call}, "{key}")`, which is `Some(text)` or `None`'
    return f'write `Json.get_field({name_of(record) or "x"}, "{key}")`, which is `Some(value)` or `None`'


def assignee_help(node: ast.SetRef) -> str | None:
    """`:=` sets refs only."""
    match node.ref:
        case ast.ArrayGet():
            return "an element of an array is set with `<-`"
        case ast.FieldGet(label=label):
            return f"a record does not change: make a new one, `{{ r with {label.name} = ... }}`"
    return None


def task_help(node: ast.Call, index: int) -> str | None:
    """What stands in `let*` and `let+`."""
    if node.form is None:
        return None
    if index == 0:
        return f"`{node.form}` continues a task: for a plain value use `let`"
    return "what follows `let*` ... `in` is a task: end it with `Task.pure(x)`, or use `let+`"


def uncalled_help(node: ast.Call, found: Type) -> str | None:
    """`let* () = Tool.approve in …`: a function without parameters that gives a task is not called."""
    if node.form is not None and isinstance(found, Fun) and not found.params:
        return f"call it: `{name_of(node.args[0]) or 'f'}()`"
    return task_help(node, 0)


def result_help(function: ast.Lambda, problem: Mismatch) -> str | None:
    """What a call gives that may fail is taken for the value itself."""
    wanted = [resolved(type) for type in (problem.part, problem.other)]
    for type in wanted:
        tags = flatten(type.row)[0].keys() if isinstance(type, Variant) else set[str]()
        if {"Ok", "Error"} <= tags and problem.path[:1] == (("parameter", 0),):
            name, arms = (
                function.params[0].name,
                " ".join([f"| `{tag}(x) -> ..." for tag in sorted(tags, reverse=True)]),
            )
            return f"`{name}` says whether it went well: `match {name} with {arms}`"
    return None


def callee_help(node: ast.Call, function: Type) -> str | None:
    """A call with the wrong number of arguments, or of something that is not a function."""
    callee, text = node.function, node.span.source.text
    end = callee.label.span.right if isinstance(callee, ast.FieldGet) else callee.span.right
    if node.form is None and "\n" in text[end : max(text.find("(", end), 0)]:
        return "a line that begins with `(` continues the line before: to start anew, begin it with `let`"
    if not isinstance(function, Fun):
        return None
    name, wanted, given = name_of(node.function) or "f", len(function.params), len(node.args)
    if wanted == 0 and given == 1 and isinstance(node.args[0], ast.Unit):
        return f"`()` in the parentheses is an argument: write `{name}()`"
    if wanted == 1 and given == 0:
        unit = resolved(function.params[0]) is Unit
        return f"pass the unit value: `{name}(())`" if unit else None
    if given < wanted:
        return "a call passes all arguments at once; for some of them, write a function: `fun y -> f(x, y)`"
    return None


def value_help(found: Type, wanted: Type, problem: Mismatch, around: Around) -> str | None:
    """A value that is one step away from what is wanted."""
    found, wanted = resolved(found), resolved(wanted)
    if isinstance(found, Ref) and similar(found.content, wanted):
        return "read the ref with `!`"
    if isinstance(found, Fun) and not found.params and similar(found.result, wanted):
        return "call the function: `f()`"
    if isinstance(found, Con) and found.name == "task" and similar(found.args[0], wanted):
        return "a task gives its value when a host runs it: continue it with `let* x = task in ...`"
    if isinstance(wanted, Con) and wanted.name == "task" and similar(found, wanted.args[0]):
        return "make a task of the value: `Task.pure(x)`"
    if similar(option_of(found), wanted):
        return "take the value out with `match`, or with `Option.get_or(x, default)`"
    if similar(found, option_of(wanted)):
        return "wrap the value: `Some(x)"
    if wanted is String:
        return "`to_string` makes a string of any value"
    return continued_line_help(problem.site.node)


def similar(one: Type | None, other: Type | None) -> bool:
    """Whether two types have the same kind, so that the one may well stand for the other."""
    if one is None or other is None:
        return False
    one, other = resolved(one), resolved(other)
    return one is other or (one.__class__ is other.__class__ and one.__class__ in (Record, Variant, Fun, Con))


def option_of(type: Type) -> Type | None:
    """What an option may hold."""
    fields = flatten(type.row)[0] if isinstance(type, Variant) else {}
    return fields["Some"] if fields.keys() == {"None", "Some"} else None


def continued_line_help(site: Any) -> str | None:
    """An operator, an index or a field at the start of a line continues the line before."""
    match site:
        case ast.Binary(left=left, op_span=after):
            pass
        case ast.ArrayGet(array=left, index=index):
            after = index.span
        case _:
            return None
    if not breaks_line(left.span, after):
        return None
    sign = after.text if isinstance(site, ast.Binary) else "["
    return f"a line that begins with `{sign}` continues the line before: to start anew, begin it with `let`"


def find_juxtaposed(script: ast.Script, is_function: Callable[[ast.Expr], bool]) -> Span | None:
    """The first call that is written without parentheses: `f x` is two statements."""
    todo = [script.statements]
    while todo:
        statements = todo.pop()
        todo.extend([statement.items for statement in statements if isinstance(statement, ast.ModuleStatement)])
        for before, after in pairwise(statements):
            if (
                isinstance(before, ast.LetStatement | ast.ExprStatement)
                and isinstance(after, ast.ExprStatement)
                and not breaks_line(before.span, after.span)
                and is_function(last_of(before.value))
            ):
                return before.span.to(after.span)
    return None
