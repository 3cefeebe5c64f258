"""Secrets taken out of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from chatml_shell.output.sanitise import sanitise


def _forms(secrets: Iterable[str]) -> tuple[str, ...]:
    """The secrets as they can stand in a text, longest first: as they are, and without their control characters."""
    forms = {form for secret in secrets for form in (secret, sanitise(secret)) if form}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


@attrs.frozen
class Redactor:
    """Knows secrets, and puts `replacement` where they stand. Empty secrets do not count.

    >>> Redactor(["K3Y", "3Y!"]).redact("the K3Y! and K3")
    'the [REDACTED] and K3'
    """

    secrets: tuple[str, ...] = attrs.field(converter=_forms, repr=False)
    replacement: str = "[REDACTED]"

    @property
    def longest(self) -> int:
        """The bytes of the longest secret."""
        return max((len(secret.encode("utf-8", "surrogatepass")) for secret in self.secrets), default=0)

    def joined(self, more: Iterable[str]) -> Redactor:
        """One that knows more secrets."""
        return Redactor((*self.secrets, *more), self.replacement)

    def redact(self, text: str) -> str:
        """A text without secrets. Those that overlap are replaced together, so that no end of one is left."""
        pieces, place = [], 0
        for start, end in _merged(self._found(text)):
            pieces += [text[place:start], self.replacement]
            place = end
        return "".join([*pieces, text[place:]])

    def trimmed(self, text: str) -> str:
        """A text without its end, if that is the beginning of a secret: for a text that was cut there.

        >>> Redactor(["K3Y"]).trimmed("so K3")
        'so '
        """
        longest = 0
        for secret in self.secrets:
            for length in range(min(len(secret) - 1, len(text)), longest, -1):
                if text.endswith(secret[:length]):
                    longest = length
                    break
        return text[: len(text) - longest]

    def apart(self, first: str, second: str) -> tuple[str, str]:
        """Two texts that may be put one behind the other: a secret that would arise there is replaced in both.

        >>> Redactor(["K3Y"]).apart("a K3", "Y b")
        ('a [REDACTED]', ' b')
        """
        border = len(first)
        reach = max(map(len, self.secrets), default=0)
        offset = max(border - reach, 0)
        for start, end in _merged(self._found(first[offset:] + second[:reach])):
            if offset + start < border < offset + end:
                return first[: offset + start] + self.replacement, second[offset + end - border :]
        return first, second

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        for secret in self.secrets:
            start = text.find(secret)
            while start >= 0:
                yield start, start + len(secret)
                start = text.find(secret, start + 1)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
