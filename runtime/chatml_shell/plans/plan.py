"""A plan: one command, reviewed, and exactly how it is started."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from chatml_shell.plans.command import Command, Kind
from chatml_shell.plans.executable import Executable
from chatml_shell.plans.grants import Bounds, Grants


@attrs.frozen(kw_only=True)
class Order:
    """What shall run. `environment` is complete and final; `runner` keeps the limits that only the system can keep."""

    command: Command
    executable: Executable
    kind: Kind
    cwd: str
    environment: Mapping[str, str]
    grants: Grants
    bounds: Bounds
    runner: Executable | None = None


@attrs.frozen(kw_only=True)
class Launch:
    """How an order is started: the words that are executed, the file that is (`program`), and every file whose
    fingerprint is compared again immediately before (`verified`).

    The first word is a name only; the file that runs is `program`, by the descriptor that its content was read from.
    The rest is between backends and processes: `directories` must still be free of links at the start; `copies` are
    verified files that the wrapper gets by content, as pairs of a descriptor and a place in `verified`; `report` is
    the descriptor on which the wrapper says that the command did start; `placeholders` are mount points, empty
    directories, that have to exist while the command runs.
    """

    argv: tuple[str, ...]
    program: Executable
    verified: tuple[Executable, ...]
    directories: tuple[str, ...] = ()
    copies: tuple[tuple[int, int], ...] = ()
    report: int | None = None
    placeholders: tuple[str, ...] = ()
    no_new_privileges: bool = True


@attrs.frozen(kw_only=True)
class Plan:
    """An order with its launch. `backend` is the backend's name in results."""

    plan_id: str
    request_id: str
    order: Order
    launch: Launch
    backend: str
