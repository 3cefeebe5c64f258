"""The scripts and data that commands are given: which file is what, and which surface a script is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from chatml.lazy import lazy
from chatml.source import Source
from chatml.syntax.decode import decode
from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError, read_bytes

if TYPE_CHECKING:
    from chatml.surfaces import core, moderator, ui
    from chatml.surfaces.model import Surface
else:
    core, moderator, ui = (lazy("chatml.surfaces.core"), lazy("chatml.surfaces.moderator"), lazy("chatml.surfaces.ui"))

SURFACES: Mapping[str, Callable[[], Surface]] = {
    "core": lambda: core.CORE,
    "moderator": lambda: moderator.MODERATOR,
    "ui": lambda: ui.UI_MODERATOR,
}
"""The surfaces by the names that they have here; each is made when a script asks for it."""

DOCUMENTS = (".md", ".chatmd")
"""The names of prompt documents end so."""
SCRIPTS = (".chatml", *DOCUMENTS)
"""The names of scripts end so."""
DATA = (".json5", ".json", ".jsonl")
"""The names of scenarios and other data end so: no script is called like that."""

DEFINES_ENTRY_POINT = r"\b(let|and)\s+(rec\s+)?(on_event|initial_state)\b"


def add_surface(arguments: Arguments) -> None:
    """Offer `--surface`."""
    arguments.add(
        "--surface",
        choices=SURFACES,
        help="what the script can name (default: ui for a script with on_event or initial_state, core for any other)",
    )


def choose_surface(name: str | None, source: Source) -> Surface:
    """The surface of that name, or the one that fits the script."""
    return SURFACES[fitting_surface(source) if name is None else name]()


def fitting_surface(source: Source) -> str:
    """The name of the surface that fits a script."""
    return "ui" if re.search(DEFINES_ENTRY_POINT, source.text) else "core"


def read_source(path: str) -> Source:
    """The script in a file, on standard input for `-`, or the moderator of a prompt document.

    Raises `CompileError` for text that is not UTF-8, and for a document that does not load.
    """
    if path.endswith(DATA):
        raise UsageError(f"{path} is data, not a script: `chatml run SCRIPT --events {path}` feeds it to a moderator")
    if path.endswith(DOCUMENTS):
        read_moderator: Callable[[str], Source] = import_module("chatml_tools.documents.reading").read_moderator
        return read_moderator(path)
    return read_text(path)


def read_data(path: str) -> Source:
    """The scenario in a file, or on standard input for `-`. Raises `CompileError` for text that is not UTF-8."""
    if path.endswith(SCRIPTS):
        raise UsageError(f"{path} is a script, not a scenario: `chatml run {path} --events SCENARIO` feeds it one")
    return read_text(path)


def read_text(path: str) -> Source:
    return decode("<stdin>" if path == "-" else path, read_bytes(path))
