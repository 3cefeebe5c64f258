"""Finding scenarios, and the script that each of them is for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from chatml_tools.console import UsageError
from chatml_tools.scripts import SCRIPTS

SUFFIX = ".scenario.json5"
"""The names of scenarios with expectations end so."""


def find_scenarios(paths: Iterable[str]) -> list[str]:
    """The files that are named, and the scenarios in the folders that are. `UsageError` if there are none."""
    found = {path: None for named in paths for path in scenarios_at(named)}
    if not found:
        raise UsageError(f"no scenario found: the names of scenarios end in {SUFFIX}")
    return list(found)


def scenarios_at(named: str) -> Iterator[str]:
    if not os.path.isdir(named):
        if not os.path.exists(named):
            raise UsageError(f"cannot read {named}: no such file or folder")
        if named.endswith(SCRIPTS):
            raise UsageError(f"{named} is a script: name its scenario, {Path(named).stem}{SUFFIX}, or their folder")
        yield named
        return
    for folder, folders, files in os.walk(named):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(SUFFIX))


def script_of(scenario: str) -> str | None:
    """The script beside a scenario: of `guard.late.scenario.json5` it is `guard.late.chatml`, or else `guard.chatml`.

    A prompt document, `guard.chatmd` or `guard.md`, does as well; of several the first of `SCRIPTS` counts.
    """
    path = Path(scenario)
    stem = path.name.removesuffix(SUFFIX) if path.name.endswith(SUFFIX) else path.stem
    while stem:
        for suffix in SCRIPTS:
            script = path.with_name(stem + suffix)
            if script.is_file():
                return str(script)
        stem = stem.rpartition(".")[0]
    return None
