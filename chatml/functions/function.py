"""Functions of a script as functions of Python (`Instance.function`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from chatml.engines.callers import gatherer
from chatml.engines.compile.code import Code
from chatml.engines.compile.compiled import Compiled
from chatml.engines.compile.entry import Ways, generate_entry, link_entry
from chatml.engines.engine import Engine
from chatml.functions.typed import JSON_TYPE, Signature, signature
from chatml.stack import deep
from chatml.types import Checked


def function_of(checked: Checked, engine: Engine, cell: int, name: str) -> Callable[..., Any]:
    """The function in a cell, which the script defines under a name; it takes and returns data.

    Raises `BoundaryError` if the definition is not a function.
    """
    types = signature_of(checked, name)
    function = engine.read(cell)

    def call(args: tuple[Any, ...]) -> Any:
        values = types.to_values(args)
        left = engine.renew()
        try:
            return types.to_data(engine.apply(function, values))
        finally:
            engine.restore(left)

    entry = entry_of(checked, engine.code, cell, name) if isinstance(engine, Compiled) else None
    if entry is None or not isinstance(engine, Compiled):
        return gatherer(len(types.params))(call)
    ways = Ways(call, engine.renew, engine.restore, partial(engine.apply, function), types.to_data)
    return link_entry(engine, entry, name, ways)


@lru_cache(maxsize=256)
def signature_of(checked: Checked, name: str) -> Signature:
    """The types of a function. Raises `BoundaryError` if the definition is none."""
    return signature(name, checked.bindings[name])


@lru_cache(maxsize=256)
def entry_of(checked: Checked, code: Code, cell: int, name: str) -> Code | None:
    """The entry of a function, if its types allow one."""
    types = signature_of(checked, name)
    with deep():
        return generate_entry(code, cell, types.params, JSON_TYPE, has_json=types.has_json)
