"""Everything public of the language. The package reads this file; type checkers do, too (`chatml.lazy.read_door`)."""

from chatml.border.python import from_json, from_python, to_json, to_python
from chatml.diagnostics.errors import (
    BoundaryError,
    ChatmlError,
    CompileError,
    RuntimeFailure,
    SessionError,
    SnapshotError,
    SurfaceError,
)
from chatml.diagnostics.model import Diagnostic, Label
from chatml.pipeline import Instance, Program, check, compile
from chatml.source import Position, Source, Span
from chatml.surfaces.core import CORE
from chatml.surfaces.model import Alias, Builtin, Module, Surface
from chatml.surfaces.moderator import MODERATOR
from chatml.surfaces.ui import UI_MODERATOR
from chatml.types.model import (
    Array,
    Bool,
    Con,
    Empty,
    Extend,
    Float,
    Fun,
    Int,
    Mu,
    Record,
    RecVar,
    Ref,
    RowVar,
    String,
    Tuple,
    Unit,
    Var,
    Variant,
)
from chatml.values.limits import Limits
from chatml.values.model import BuiltinFailure, Value
from chatml.values.text import show

__all__ = [
    "CORE",
    "MODERATOR",
    "UI_MODERATOR",
    "Alias",
    "Array",
    "Bool",
    "BoundaryError",
    "Builtin",
    "BuiltinFailure",
    "ChatmlError",
    "CompileError",
    "Con",
    "Diagnostic",
    "Empty",
    "Extend",
    "Float",
    "Fun",
    "Instance",
    "Int",
    "Label",
    "Limits",
    "Module",
    "Mu",
    "Position",
    "Program",
    "RecVar",
    "Record",
    "Ref",
    "RowVar",
    "RuntimeFailure",
    "SessionError",
    "SnapshotError",
    "Source",
    "Span",
    "String",
    "Surface",
    "SurfaceError",
    "Tuple",
    "Unit",
    "Value",
    "Var",
    "Variant",
    "check",
    "compile",
    "from_json",
    "from_python",
    "show",
    "to_json",
    "to_python",
]
