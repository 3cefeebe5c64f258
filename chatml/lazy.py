"""Modules that are loaded when they are first used.

Start-up time counts on the command line, and most runs report nothing: what only words or draws a report waits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any


class Waiting(ModuleType):
    """Stands for a module: imports it when it is asked for anything, under Python's own lock for imports.

    What was found once is found again without asking.
    """

    def __getattr__(self, name: str) -> Any:
        found = vars(self)[name] = getattr(import_module(self.__name__), name)
        return found


def lazy(name: str) -> Any:
    """The module of that name, which is imported when an attribute of it is first asked for.

    >>> difflib = lazy("difflib")
    >>> difflib.get_close_matches("prnt", ["print", "length"])
    ['print']
    """
    return Waiting(name)


def door(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package whose public names its module `door` imports, all at once.

    Whoever asks the package for a name, `__all__` too, opens its door; importing a part of the package does not.
    """

    def find(name: str) -> Any:
        if PathFinder.find_spec(f"{package}.{name}", sys.modules[package].__path__) is None:
            opened = import_module(f"{package}.door")
            if hasattr(opened, name):
                found = vars(sys.modules[package])[name] = getattr(opened, name)
                return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *find("__all__")})

    return find, listed
