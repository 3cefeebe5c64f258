"""Secrets taken out of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from chatml_shell.output.sanitise import sanitise

PROBE = 8


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

    def redact(self, text: str, *, cut: bool = False) -> str:
        """A text without secrets. Those that overlap are replaced together, so that no end of one is left.

        Of a text that was cut off (`cut`), an end that could be the beginning of a secret goes too.

        >>> Redactor(["K3Y"]).redact("so K3", cut=True)
        'so [REDACTED]'
        """
        spans = list(self._found(text))
        if cut:
            spans += [(_beginning(secret, text), len(text)) for secret in self.secrets]
        pieces, place = [], 0
        for start, end in _merged(spans):
            pieces += [text[place:start], self.replacement]
            place = end
        return "".join([*pieces, text[place:]])

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


def _beginning(secret: str, text: str) -> int:
    """Where the longest end of a text begins that is a beginning of a secret and not all of it."""
    start = max(len(text) - len(secret) + 1, 0)
    # Secrets may be whole files: the first characters lead to the few places that are worth a comparison.
    while (start := text.find(secret[0], start)) >= 0:
        if text.startswith(secret[:PROBE], start) and secret.startswith(text[start:]):
            return start
        if len(text) - start < PROBE and secret.startswith(text[start:]):
            return start
        start += 1
    return len(text)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
