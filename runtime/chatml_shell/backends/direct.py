"""The backend that confines nothing: the command is executed as it is."""

from __future__ import annotations

import attrs

from chatml_shell.backends.runner import command_words, started_files
from chatml_shell.plans.plan import Launch, Order


@attrs.frozen
class DirectBackend:
    """Starts commands without any sandbox. Only a runtime that asks for `direct_unsafe`, or prefers a sandbox where
    none is, gets it."""

    id: str | None = None
    name: str = "direct-unsafe"
    eligible: bool = False
    unavailable: str | None = None

    def launch(self, order: Order) -> Launch:
        """The command's own words, behind the runner if there is one. The file that runs is the one that was reviewed,
        whatever the first word says."""
        first, *others = started_files(order)
        words = command_words(order) if others else (first.path, *order.command.arguments)
        return Launch(
            argv=words,
            program=first,
            verified=(first, *others),
            no_new_privileges=not order.grants.privilege_change,
        )
