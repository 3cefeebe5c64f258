"""The backends of a runtime on this machine, available or not (section 19)."""

from __future__ import annotations

import sys
from collections.abc import Callable

import attrs

from chatmd.shell.backends import Backend as Declared
from chatmd.shell.backends import Backends, Bubblewrap, Direct, ExternalBackend, Seatbelt
from chatmd.shell.runtime import Platform
from chatmd.sources.paths import PathExpr
from chatml_shell.backends.backend import Backend
from chatml_shell.backends.bubblewrap import open_bubblewrap
from chatml_shell.backends.direct import DirectBackend
from chatml_shell.backends.external import open_external
from chatml_shell.errors import Refusal
from chatml_shell.plans.plan import Launch, Order

NAMES: dict[type[Declared], str] = {Seatbelt: "macos-seatbelt", Bubblewrap: "linux-bubblewrap"}


@attrs.frozen
class UnavailableBackend:
    """A backend that is declared and cannot be used here; `unavailable` says why."""

    id: str | None
    name: str
    eligible: bool
    unavailable: str | None

    def launch(self, order: Order) -> Launch:
        """Never how an order is started."""
        raise Refusal("sandbox_unavailable", f"{self.name}: {self.unavailable}")


async def open_backends(declared: Backends, platform: Platform, path: Callable[[PathExpr], str]) -> tuple[Backend, ...]:
    """The declared backends of a platform, in order. Raises `ShellError` for an external one that cannot be used."""
    accepted = declared.accept_declared_confinement
    here = [one for one in declared.backends if one.when in ("any", platform)]
    return tuple([await _opened(one, accepted, path) for one in here])


async def _opened(declared: Declared, accepted: bool, path: Callable[[PathExpr], str]) -> Backend:
    if isinstance(declared, Direct):
        return DirectBackend(declared.id)
    if isinstance(declared, ExternalBackend):
        return open_external(declared, accepted, path)
    if isinstance(declared, Bubblewrap) and sys.platform == "linux":
        return await open_bubblewrap(declared, path)
    return UnavailableBackend(declared.id, NAMES[type(declared)], True, f"it cannot be used on {sys.platform}")
