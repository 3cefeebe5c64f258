"""The text of a value, as `print` and `to_string` show it (language.md section 5.6, builtins.md section 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chatml.values.model import (
    Bind,
    BuiltinFailure,
    Catch,
    Fail,
    Machine,
    Map,
    ModuleValue,
    Perform,
    Pure,
    Ref,
    Spawn,
    Value,
    is_builtin,
    is_function,
)
from chatml.values.text_builder import CHUNK, TextBuilder


class End:
    """The end of an array or a ref, through which alone a value can contain itself."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


END_OF_ARRAY, END_OF_REF = End("|]"), End(")")

Todo = list[Value]
"""What is left to write, last first. A string in it is a string value or punctuation: both show as they are."""


def show(value: Value, machine: Machine | None = None) -> str:
    """The text of a value. A running script passes its machine, whose limits hold.

    Raises `BuiltinFailure` for a value that contains itself or is too large, and for what is not a value.

    >>> show({"b": "s", "a": [1.5, True, None]}), show(("Pair", 1, "x")), show(("Nil",))
    ('{ a = [|1.5, true, ()|]; b = s }', '`Pair(1, x)', '`Nil')
    """
    if type(value) is str:
        return value
    builder = TextBuilder(value, machine)
    pieces = builder.pieces
    todo = [value]
    open: list[Value] = []
    while todo:
        part = todo.pop()
        kind = type(part)
        if kind is str:
            pieces.append(part)
        elif kind in ATOMS:
            pieces.append(ATOMS[kind](part))
        elif kind is End:
            pieces.append(part.text)
            open.pop()
        else:
            if kind is list or isinstance(part, Ref):
                open.append(part)
            SHAPES.get(kind, _show_other)(part, todo)
        if len(pieces) >= CHUNK:
            builder.flush(open)
    return builder.finish()


def show_float(number: float) -> str:
    """The text of a float: 15 digits if they read back as the same number, else 17, and a point if nothing else
    tells it from an int.

    >>> show_float(1.0), show_float(0.1 + 0.2), show_float(1e15)
    ('1.', '0.30000000000000004', '1e+15')
    """
    text = f"{number:.15g}"
    if float(text) != number:
        text = f"{number:.17g}"
    return text + "." if text.lstrip("-").isdigit() else text


def _push_joined(todo: Todo, values: Sequence[Value], separator: str) -> None:
    for index in range(len(values) - 1, -1, -1):
        todo.append(values[index])
        if index:
            todo.append(separator)


def _show_array(array: list[Value], todo: Todo) -> None:
    todo.append(END_OF_ARRAY)
    _push_joined(todo, array, ", ")
    todo.append("[|")


def _show_record(record: dict[str, Value], todo: Todo) -> None:
    if not record:
        todo.append("{  }")
        return
    todo.append(" }")
    labels = sorted(record)
    for label in labels[:0:-1]:
        todo += (record[label], f"; {label} = ")
    todo += (record[labels[0]], f"{{ {labels[0]} = ")


def _show_variant(variant: tuple[Value, ...], todo: Todo) -> None:
    if not variant or type(variant[0]) is not str:
        raise BuiltinFailure("a tuple without a tag is not a value of the language")
    if len(variant) == 1:
        todo.append(f"`{variant[0]}")
        return
    todo.append(")")
    _push_joined(todo, variant[1:], ", ")
    todo.append(f"`{variant[0]}(")


def _show_effect(node: str) -> Callable[[Perform | Spawn, Todo], None]:
    def show_effect(task: Perform | Spawn, todo: Todo) -> None:
        todo.append("]})")
        _push_joined(todo, task.args, ", ")
        todo.append(f"{node}({{operation = {task.op}, args = [")

    return show_effect


def _show_chained(node: str) -> Callable[[Bind | Map | Catch, Todo], None]:
    def show_chained(task: Bind | Map | Catch, todo: Todo) -> None:
        todo += (")", task.function, ", ", task.task, f"{node}(")

    return show_chained


def _show_other(value: Value, todo: Todo) -> None:
    """The kinds that have subclasses."""
    if isinstance(value, Ref):
        todo += (END_OF_REF, value.content, "ref(")
    elif is_builtin(value):
        todo.append("<builtin>")
    elif is_function(value):
        todo.append("<closure>")
    elif isinstance(value, ModuleValue):
        todo.append("<module>")
    else:
        raise BuiltinFailure(f"a Python `{type(value).__name__}` is not a value of the language")


ATOMS: dict[type, Callable[[Value], str]] = {
    int: int.__repr__,
    float: show_float,
    bool: lambda value: "true" if value else "false",
    type(None): lambda value: "()",
}

SHAPES: dict[type, Callable[[Value, Todo], None]] = {
    list: _show_array,
    dict: _show_record,
    tuple: _show_variant,
    Pure: lambda task, todo: todo.extend((")", task.value, "pure(")),
    Fail: lambda task, todo: todo.extend((")", task.message, "fail(")),
    Bind: _show_chained("bind"),
    Map: _show_chained("map"),
    Catch: _show_chained("catch"),
    Perform: _show_effect("perform"),
    Spawn: _show_effect("spawn"),
}
