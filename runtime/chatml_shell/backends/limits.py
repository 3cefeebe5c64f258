"""Who keeps the limits that only the operating system can keep (section 18.2)."""

from __future__ import annotations

from chatml_shell.plans.executable import Executable
from chatml_shell.plans.grants import Bounds
from chatml_shell.resolver.resolve import pin


def prepare_runner(path: str | None) -> Executable | None:
    """The program that a host names to keep limits, pinned; None when it names none, and the start of each process
    keeps them. Raises `Refusal` for a program that cannot be executed."""
    return pin(path) if path else None


def enforceable(bounds: Bounds, runner: Executable | None) -> str | None:
    """Why limits cannot be kept here; None when they can: the supervisor of each command sets them before the start."""
    return None
