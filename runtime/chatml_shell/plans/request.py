"""A request: commands joined to pipelines, and what they are given. It has been checked, and nothing of it has run."""

from __future__ import annotations

from typing import Literal

import attrs

from chatml_shell.plans.command import Command, Kind
from chatml_shell.plans.executable import Executable

Operator = Literal[";", "&&", "||"]


@attrs.frozen
class Link:
    """A pipeline, and the operator that joins it to the one before; the first one follows `;`."""

    operator: Operator
    stages: tuple[Command, ...]


@attrs.frozen
class Chain:
    """Pipelines in order."""

    links: tuple[Link, ...]

    @property
    def single(self) -> Command | None:
        """The command of a chain that is nothing but one."""
        (first, *others) = self.links
        return first.stages[0] if not others and len(first.stages) == 1 else None


def of_command(command: Command) -> Chain:
    """One command as a chain.

    >>> of_command(Command("ls")).single
    Command(program='ls', arguments=())
    """
    return Chain((Link(";", (command,)),))


@attrs.frozen(kw_only=True)
class PreparedScript:
    """A script file as it was when its tool was published: the digest of its text, and what executes it."""

    path: str
    sha256: str
    max_bytes: int
    launcher: Executable


@attrs.frozen(kw_only=True)
class Request:
    """What somebody wants to run. `origin` is `tool`, `moderator` or `host:NAME`; `rationale` is the caller's own word
    and is trusted with nothing; `secrets` are values that must not come
    back out, neither in results nor in a traceback."""

    chain: Chain = attrs.field(repr=False)
    kind: Kind = "structured"
    stdin: bytes = attrs.field(default=b"", repr=False)
    origin: str = "tool"
    rationale: str | None = None
    script: PreparedScript | None = None
    secrets: tuple[str, ...] = attrs.field(default=(), repr=False)
