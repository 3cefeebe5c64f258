"""What a policy made of a stored conversation, as plain text records."""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeAlias, get_args

import attrs

Kind: TypeAlias = Literal[
    "approved", "rejected", "rewritten", "redirected", "undecided", "changed", "asked", "requested", "ended", "failed"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The first five are of tool calls; `undecided` calls run as they are."""


@attrs.frozen
class Finding:
    """Something that the policy did.

    `item` is the index of the stored item at which it did it, None at the start. `about` is the call, the change, the
    question or the event in short; `detail` the reason, the other arguments, the answer or the message.
    """

    item: int | None
    kind: Kind
    about: str
    detail: str = ""


@attrs.frozen
class Replayed:
    """A replayed conversation: how many items it has, how many events were delivered, and what was found, in order."""

    items: int
    events: int
    findings: tuple[Finding, ...]

    def counts(self) -> Counter[Kind]:
        """How many findings there are of each kind."""
        return Counter(finding.kind for finding in self.findings)
