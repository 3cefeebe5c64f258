"""What a backend is to those who use one."""

from __future__ import annotations

from typing import Protocol

from chatml_shell.plans.plan import Launch, Order


class Backend(Protocol):
    """A way to start commands. `name` is its name in results; `eligible` is whether it counts as a sandbox;
    `unavailable` says why it cannot be used on this machine and what to do, and is None when it can."""

    @property
    def id(self) -> str | None: ...

    @property
    def name(self) -> str: ...

    @property
    def eligible(self) -> bool: ...

    @property
    def unavailable(self) -> str | None: ...

    def launch(self, order: Order) -> Launch:
        """How an order is started. Raises `Refusal` (`sandbox_unavailable`)."""
