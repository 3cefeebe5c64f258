"""One moderated conversation: which entries it has, what a policy makes of them, and how that is stored.

What comes in is an `EventInput` with the canonical history; what goes out is an `Outcome`: a tool decision, requests to
the host, and changes of the *overlay*, the layer of insertions, replacements and deletions through which the model
sees the history. `moderator` joins a session of `script` to that overlay and commits both or neither. `vocabulary`
names events, `identities` the entries, `snapshots` is the stored form. No I/O, no clock.
"""

import typing

from chatml.lazy import door as _door

if typing.TYPE_CHECKING:
    from chatml_runtime.moderation.door import *
else:
    __getattr__, __dir__ = _door(__name__)
