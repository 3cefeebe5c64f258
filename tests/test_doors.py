"""The public doors: what `__all__` lists exists, is documented, and stands in order."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import pytest

from tests.house import PACKAGES

LATE = [
    *("chatml", "chatmd", "chatmd.nrchat", "chatml_shell"),
    *("chatml_runtime", "chatml_runtime.script", "chatml_runtime.moderation", "chatml_runtime.host"),
]
"""Packages whose public names are imported when they are asked for."""
DOORS = ["chatml.trace", *LATE]
NAMES = [(door, name) for door in DOORS for name in importlib.import_module(door).__all__]


def order(name: str) -> tuple[bool, bool, list[str | int]]:
    """Constants, then classes, then functions; by name within each, numbers by their value."""
    parts = [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
    return (not name.isupper(), not name[:1].isupper(), parts)


@pytest.mark.parametrize("package", LATE)
def test_doors_that_open_when_they_are_used(package: str) -> None:
    """What the package hands out late is what type checkers read, and no name is found that does not exist.

    A public name is not that of a module: importing the module would put it in the name's place.
    """
    late, read = importlib.import_module(package), importlib.import_module(f"{package}.door")
    assert late.__all__ == read.__all__
    assert all(getattr(late, name) is getattr(read, name) for name in late.__all__)
    assert set(late.__all__) <= set(dir(late))
    assert {module.name for module in pkgutil.iter_modules(late.__path__)} & set(late.__all__) == set()
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'complie'"):
        getattr(late, "comp" + "lie")


@pytest.mark.parametrize("door", DOORS)
def test_sorted(door: str) -> None:
    listed = importlib.import_module(door).__all__
    assert list(listed) == sorted(set(listed), key=order)


@pytest.mark.parametrize(("door", "name"), NAMES, ids=[".".join(pair) for pair in NAMES])
def test_documented(door: str, name: str) -> None:
    """Every public name exists and has a docstring of its own; a constant has that of its class."""
    public = getattr(importlib.import_module(door), name)
    described = public if inspect.isclass(public) or inspect.isroutine(public) else type(public)
    assert described.__module__.split(".")[0] in (*PACKAGES, "typing", "builtins")
    assert (described.__doc__ or "").strip(), f"{door}.{name} has no docstring"


@pytest.mark.parametrize("door", DOORS)
def test_nothing_public_is_left_out(door: str) -> None:
    """What a door imports from inside the project without an underscore is listed, or it is a submodule."""
    module = importlib.import_module(door)
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
    }
    assert public <= set(module.__all__)
