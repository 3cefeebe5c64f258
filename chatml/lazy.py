"""Modules that are loaded when they are first used.

Start-up time counts on the command line, and most runs report nothing: what only words or draws a report waits.
"""

from __future__ import annotations

from importlib import import_module
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
