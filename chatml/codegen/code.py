"""What code generation leaves behind: the code, and the table that leads from its lines back to the script."""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping
from types import CodeType

from chatml.codegen.analyse import Facts
from chatml.records import frozen
from chatml.source import Span


class Kind(enum.Enum):
    """What an operation is that can fail."""

    FUNCTION = "function"
    CALL = "call"
    LOOP = "loop"
    ARITHMETIC = "arithmetic"
    EQUALITY = "equality"
    CONCAT = "concat"
    GET = "get"
    UPDATE = "update"
    ACCESS = "access"
    REF = "ref"
    MATCH = "match"


@frozen
class Spot:
    """What a line of the generated code stands for, and where that is in the script (None: the host called).

    `name` is the function that a FUNCTION defines, the builtin that a CALL calls, or the label of a GET. `operands`
    hold the array and the index of an ACCESS, or the base of an UPDATE.
    """

    kind: Kind
    span: Span | None
    name: str = ""
    builtin: bool = False
    operands: tuple[ast.expr, ...] = ()


@frozen
class Builtin:
    """A builtin cell as the generator sees it: its qualified name, how to call it, and how to do without a call.

    `inline` is a Python expression of the arguments `a`, `b` and so on, `on_data` one for plain JSON data among them
    (`chatml.surfaces.model`).
    """

    name: str
    uses_machine: bool = False
    inline: str | None = None
    on_data: str | None = None


@frozen(eq=False)
class Code:
    """The Python code of a script. Running it defines `main`, which runs the top level.

    `spots` is indexed by line number. The code finds builtins under `raw_name(cell)` (the host function itself) and
    `cell_name(cell)` (a value like any other); `raw` and `values` say which of them it needs. The rest is what it was
    made by: entries are made later.
    """

    code: CodeType
    spots: tuple[Spot | None, ...]
    raw: frozenset[int]
    values: frozenset[int]
    facts: Facts
    builtins: Mapping[int, Builtin]
    bounded: bool


def cell_name(cell: int) -> str:
    """The global variable that holds a cell."""
    return f"g{cell}"


def raw_name(cell: int) -> str:
    """The global variable that holds the host function of a builtin cell."""
    return f"b{cell}"
