"""One script at work: a handler is called, its task carried out, its effects kept until they are committed.

What comes in is a compiled script and an event; what goes out is a new state and a list of effects, or a failure that
has left no trace. `session` holds the state and walks the table in `transitions`; `tasks` interprets the task that the
handler returned and hands out what it wants (`Call`, a question); `drivers` carry that out, plainly or in `asyncio`;
`effects` are the records of what was asked for. The room does no I/O, reads no clock and knows of no conversation:
anything that feeds a session events can run it.
"""

import typing

from chatml.lazy import door as _door

if typing.TYPE_CHECKING:
    from chatml_runtime.script.door import *
else:
    __getattr__, __dir__ = _door(__name__)
