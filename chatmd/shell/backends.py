"""Backends: what confines a command, and how it is started (shell.md section 3.5)."""

from __future__ import annotations

from typing import Literal

from chatmd.shell.shape import Declared, attribute, children, declared, needed, tag_name
from chatmd.shell.values import BOOL, MERGE, PATH, TEXT, Merge, choice
from chatmd.sources.paths import PathExpr

When = Literal["any", "macos", "linux", "windows"]
Confinement = Literal["none", "declared", "verified"]


@declared
class Backend(Declared):
    """A way to run a command on a platform."""

    id: str | None = attribute(TEXT)
    when: When = attribute(choice(When), "any")


@declared
class Seatbelt(Backend):
    """The sandbox of macOS."""

    executable: PathExpr | None = attribute(PATH)
    allow_system_reads: bool = attribute(BOOL, True)


@declared
class Bubblewrap(Backend):
    """The sandbox of Linux."""

    executable: PathExpr | None = attribute(PATH)
    private_tmp: bool = attribute(BOOL, True)
    proc: bool = attribute(BOOL, True)
    dev: str = attribute(TEXT, "minimal")


@declared
class Direct(Backend):
    """No sandbox at all."""


@declared
class Argument(Declared):
    """A word of a wrapper's command line, as it is."""

    value: str = needed(TEXT)


@declared
class Part(Declared):
    """A word, or words, of a wrapper's command line that the command decides."""

    kind: Literal["cwd_value", "target_executable", "command_argv", "resource_limit_args"] = tag_name()


@declared
class Roots(Declared):
    """Each root in turn behind a flag."""

    kind: Literal["read_roots", "write_roots"] = tag_name()
    flag: str = needed(TEXT)


@declared
class NetworkFlag(Declared):
    """A word that is there when the network is allowed."""

    value: str = needed(TEXT)


Atom = Argument | Part | Roots | NetworkFlag


@declared
class ExternalBackend(Backend):
    """A program that wraps commands; `atoms` make up its command line."""

    executable: PathExpr = needed(PATH)
    sha256: str | None = attribute(TEXT)
    confinement: Confinement = attribute(choice(Confinement), "none")
    atoms: tuple[Atom, ...] = children(
        {
            "arg": Argument,
            **dict.fromkeys(("cwd_value", "target_executable", "command_argv", "resource_limit_args"), Part),
            **dict.fromkeys(("read_roots", "write_roots"), Roots),
            "network_flag": NetworkFlag,
        }
    )


@declared
class Backends(Declared):
    """The backends in order of preference; an external one counts as a sandbox only when that is accepted."""

    accept_declared_confinement: bool = attribute(BOOL, False)
    merge: Merge = attribute(MERGE, "append")
    backends: tuple[Backend, ...] = children(
        {"seatbelt": Seatbelt, "bubblewrap": Bubblewrap, "direct": Direct, "external_backend": ExternalBackend},
        "unique",
    )
