"""The shell runtime: what a document declares about commands, carried out exactly or refused (shell.md).

A declaration becomes a *manifest*, the deterministic and hashable description of the authority that it asks for.
Somebody authorises that manifest; only then a *registry* of live runtimes and tools is made. Nothing here ever falls
back to a weaker way of running a command, and a request that is refused starts no process.
"""

import typing

from chatml.lazy import door as _door

if typing.TYPE_CHECKING:
    from chatml_shell.door import *
else:
    __getattr__, __dir__ = _door(__name__)
