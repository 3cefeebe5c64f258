"""Modules that are loaded when they are first used.

Start-up time counts on the command line, and most runs report nothing: what only words or draws a report waits.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from os.path import join
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


EXPORTS = re.compile(r"^from (\S+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)
PUBLIC = re.compile(r"^__all__ = \[([^\]]*)\]", re.MULTILINE)


@cache
def read_door(package: str) -> tuple[dict[str, str], list[str]]:
    """The names that a package's module `door` imports, each with its module, and those that it makes public.

    The file is read, not run: running it would import every module behind the door, and a process needs few. It has
    nothing but imports of the form `from MODULE import NAME, …` and a list `__all__`; type checkers read the same file.
    """
    module: Any = import_module(package)
    text: str = module.__spec__.loader.get_data(join(module.__path__[0], "door.py")).decode()
    homes = {name: home for home, many, one in EXPORTS.findall(text) for name in re.findall(r"\w+", many or one)}
    public = PUBLIC.search(text)
    return homes, re.findall(r'"(\w+)"', public[1] if public else "")


def door(package: str, *wings: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package whose public names are listed in its module `door`.

    A name is imported from its own module when it is first asked for. What the package itself does not list is looked
    for in its `wings`, packages with doors of their own.
    """
    own = vars(sys.modules[package])

    def find(name: str) -> Any:
        home = next((homes[name] for homes, _ in map(read_door, (package, *wings)) if name in homes), None)
        if home is not None:
            found = getattr(import_module(home), name)
            if name in read_door(package)[1]:
                own[name] = found  # What only a wing makes public stays out of the package's own names.
        elif name == "__all__":
            found = own[name] = read_door(package)[1]
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return found

    return find, lambda: sorted({*own, *find("__all__")})
