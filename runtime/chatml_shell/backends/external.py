"""External backends: a program of the document's choice that wraps commands (section 19).

Its command line is a list of words that the declaration spells; what depends on the command is put in as whole words,
never as parts of one. Nobody can verify what it confines: it counts as a sandbox only where the declaration says so and
the runtime accepts that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from chatmd.shell.backends import Argument, Atom, ExternalBackend, NetworkFlag, Roots
from chatmd.sources.paths import PathExpr
from chatml_shell.backends.runner import command_words, limit_words, started_files
from chatml_shell.errors import Refusal
from chatml_shell.plans.executable import Executable
from chatml_shell.plans.plan import Launch, Order
from chatml_shell.problems import fault
from chatml_shell.resolver.resolve import pin


@attrs.frozen
class WrapperBackend:
    """A wrapper, pinned to the file that was there when the runtime was made."""

    id: str | None
    name: str
    eligible: bool
    wrapper: Executable
    atoms: tuple[Atom, ...]
    unavailable: str | None = None

    def launch(self, order: Order) -> Launch:
        """The wrapper's words; wrapper, runner and target are compared again before the start."""
        words = (word for atom in self.atoms for word in expanded(atom, order))
        return Launch(
            argv=(self.wrapper.path, *words),
            program=self.wrapper,
            verified=(self.wrapper, *started_files(order)),
            no_new_privileges=not order.grants.privilege_change,
        )


def expanded(atom: Atom, order: Order) -> Iterator[str]:
    """The words that an atom stands for."""
    if isinstance(atom, Argument):
        yield atom.value
    elif isinstance(atom, Roots):
        grants = order.grants
        for root in grants.read_roots if atom.kind == "read_roots" else grants.write_roots:
            yield from (atom.flag, root)
    elif isinstance(atom, NetworkFlag):
        yield from (atom.value,) if order.grants.network else ()
    elif atom.kind == "cwd_value":
        yield order.cwd
    elif atom.kind == "target_executable":
        yield order.executable.canonical
    elif atom.kind == "command_argv":
        yield from command_words(order)
    else:
        yield from limit_words(order.bounds)


def open_external(declared: ExternalBackend, accepted: bool, path: Callable[[PathExpr], str]) -> WrapperBackend:
    """The backend of a declaration. Raises `ShellError`: `shell.external_backend_unavailable`, `_digest_mismatch`."""
    file = path(declared.executable)
    here = ("backends", declared.id or "external_backend")
    try:
        wrapper = pin(file)
    except Refusal as refusal:
        raise fault("shell.external_backend_unavailable", declared.span, path=here, why=refusal.reason) from None
    if declared.sha256 is not None and declared.sha256.lower() != wrapper.sha256:
        facts = {"file": file, "sha256": wrapper.sha256}
        raise fault("shell.external_backend_digest_mismatch", declared.span, path=here, **facts)
    eligible = declared.confinement == "declared" and accepted
    return WrapperBackend(declared.id, declared.id or f"external:{file}", eligible, wrapper, declared.atoms)
