"""The identity of a history item, as `ochat-history-id` writes it (chatmd.md section 16.1)."""

from __future__ import annotations

import re

import attrs

ATTRIBUTE = "ochat-history-id"
WRITTEN = re.compile(r"(0|[1-9][0-9]{0,8}):(.*):(0|[1-9][0-9]{0,18})", re.ASCII | re.DOTALL)


@attrs.frozen(order=True)
class HistoryId:
    """A namespace and a number in it; written `<bytes of the namespace>:<namespace>:<number>`.

    >>> str(HistoryId("same", 7)), HistoryId.parse("4:same:7")
    ('4:same:7', HistoryId(namespace='same', seq=7))
    >>> HistoryId.parse("04:same:7") is None
    True
    """

    namespace: str
    seq: int

    @classmethod
    def parse(cls, text: str) -> HistoryId | None:
        """The identity that a text writes in its one canonical form, else None."""
        match = WRITTEN.fullmatch(text)
        if match is None or not match[2]:
            return None
        identity = cls(match[2], int(match[3]))
        return identity if str(identity) == text else None

    def __str__(self) -> str:
        return f"{len(self.namespace.encode('utf-8', 'surrogatepass'))}:{self.namespace}:{self.seq}"
