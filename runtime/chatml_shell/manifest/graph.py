"""Which runtime needs which: a runtime needs the runtimes that its hooks run in, and they must be made first."""

from __future__ import annotations

from collections.abc import Mapping

from chatmd.shell.runtime import Runtime
from chatml_shell.manifest.uses import hooks


def workers(runtime: Runtime) -> list[str]:
    """The runtimes that the hooks of a runtime run in, each once, sorted."""
    return sorted({use.declaration.runtime for use in hooks(runtime)})


def order(runtimes: Mapping[str, Runtime]) -> tuple[list[str], tuple[str, ...]]:
    """The runtimes, workers before those that need them; and the way around a cycle, empty when there is none.

    References to runtimes that do not exist are passed over: another check reports them.
    """
    done: list[str] = []
    settled: set[str] = set()
    for root in sorted(runtimes):
        way: dict[str, list[str]] = {}
        entered = [root]
        while entered:
            name = entered[-1]
            if name in settled:
                entered.pop()
                continue
            waiting = way.setdefault(name, [one for one in workers(runtimes[name]) if one in runtimes])
            following = next((one for one in waiting if one not in settled), None)
            if following is None:
                settled.add(name)
                done.append(name)
                entered.pop()
            elif following in entered:
                return done, (*entered[entered.index(following) :], following)
            else:
                entered.append(following)
    return done, ()
