"""Which backend runs a command (section 19)."""

from __future__ import annotations

from collections.abc import Sequence

from chatmd.shell.sections import Sandbox
from chatml_shell.backends.backend import Backend
from chatml_shell.errors import Refusal


def fitting(backends: Sequence[Backend], sandbox: Sandbox) -> Backend | None:
    """The backend that a runtime gets: the first available one of the class that it asks for; `preferred` takes another
    one when no sandbox is there."""
    available = [backend for backend in backends if backend.unavailable is None]
    sandboxes = [backend for backend in available if backend.eligible]
    others = [backend for backend in available if not backend.eligible]
    candidates = {"required": sandboxes, "preferred": [*sandboxes, *others], "direct_unsafe": others}[sandbox]
    return candidates[0] if candidates else None


def choose(backends: Sequence[Backend], sandbox: Sandbox) -> Backend:
    """As `fitting`. Raises `Refusal` (`sandbox_unavailable`) when there is none."""
    found = fitting(backends, sandbox)
    if found is None:
        raise Refusal("sandbox_unavailable", f"no backend gives `{sandbox}`: {why_not(backends)}")
    return found


def why_not(backends: Sequence[Backend]) -> str:
    """Why the backends do not do, one reason for each."""
    reasons = [
        f"{backend.name}: {backend.unavailable or ('confines' if backend.eligible else 'does not confine')}"
        for backend in backends
    ]
    return "; ".join(reasons) or "none is declared for this platform"
