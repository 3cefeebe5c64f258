"""Values for a person to read: strings in quotes as a script writes them, long and deep ones cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from chatml.syntax.ast_dump import show_string
from chatml.values.model import BuiltinFailure, Ref, Task, Value
from chatml.values.text import show, show_float

MOST_ELEMENTS, MOST_CHARACTERS, DEEPEST = 50, 1_000, 40
"""How many elements of an array, characters in all, and levels are shown."""


def literal(value: Value) -> str:
    r"""The text of a value, in one line.

    >>> literal({"b": 'say "hi"\n', "a": [1.5, True, None]}), literal(("Pair", -1, "x"))
    ('{ a = [1.5, true, ()]; b = "say \\"hi\\"\\n" }', '`Pair(-1, "x")')
    >>> literal(list(range(200)))[-15:]
    '49, … 150 more]'
    """
    pen = Pen()
    pen.draw(value, 0)
    return "".join(pen.pieces)


class Pen:
    """Draws one value. `left` is how many characters may still be drawn."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.left = MOST_CHARACTERS

    def put(self, text: str) -> None:
        self.pieces.append(text)
        self.left -= len(text)

    def draw(self, value: Value, level: int) -> None:
        """Draw a part of the value; `level` counts the parts around it."""
        if self.left <= 0 or level > DEEPEST:
            self.put("…")
            return
        draw = SHAPES.get(type(value))
        if draw is not None:
            draw(self, value, level + 1)
        elif isinstance(value, Ref):
            self.put("ref(")
            self.draw(value.content, level + 1)
            self.put(")")
        else:
            self.put(other(value))

    def listed(self, values: Iterable[Value], count: int, level: int) -> None:
        for index, value in enumerate(values):
            if index:
                self.put(", ")
            if index == MOST_ELEMENTS or self.left <= 0:
                self.put(f"… {count - index:,} more")
                return
            self.draw(value, level)

    def string(self, value: str, level: int) -> None:
        shown = value[: max(self.left, 1)]
        self.put(show_string(shown))
        if len(shown) < len(value):
            self.put(f"… {len(value) - len(shown):,} more characters")

    def array(self, value: list[Value], level: int) -> None:
        self.put("[")
        self.listed(value, len(value), level)
        self.put("]")

    def record(self, value: dict[str, Value], level: int) -> None:
        self.put("{ " if value else "{")
        for index, label in enumerate(sorted(value)):
            if index:
                self.put("; ")
            if self.left <= 0:
                self.put("…")
                break
            self.put(f"{label} = ")
            self.draw(value[label], level)
        self.put(" }" if value else "}")

    def variant(self, value: tuple[Value, ...], level: int) -> None:
        self.put(f"`{value[0]}")
        if len(value) > 1:
            self.put("(")
            self.listed(value[1:], len(value) - 1, level)
            self.put(")")


def other(value: Value) -> str:
    """The text of a function, module or task, whose parts a script cannot write."""
    try:
        text = show(value)
    except BuiltinFailure:
        return "<task>" if isinstance(value, Task) else "…"
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


SHAPES: dict[type, Callable[[Pen, Any, int], None]] = {
    int: lambda pen, value, level: pen.put(str(value)),
    float: lambda pen, value, level: pen.put(float_literal(value)),
    bool: lambda pen, value, level: pen.put("true" if value else "false"),
    type(None): lambda pen, value, level: pen.put("()"),
    str: Pen.string,
    list: Pen.array,
    dict: Pen.record,
    tuple: Pen.variant,
}


def float_literal(value: float) -> str:
    """A float as a script writes it, where it can: `1.0`, not `1.`.

    >>> float_literal(1.0), float_literal(0.25)
    ('1.0', '0.25')
    """
    text = show_float(value)
    return f"{text}0" if text.endswith(".") else text
