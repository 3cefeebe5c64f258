"""Modules that are loaded when they are first used.

Start-up time counts on the command line, and most runs report nothing: what only words or draws a report waits.
"""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType


def lazy(name: str) -> ModuleType:
    """The module of that name, which runs when an attribute of it is first asked for.

    >>> lazy("this_is_no_module")
    Traceback (most recent call last):
    ModuleNotFoundError: No module named 'this_is_no_module'
    """
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
