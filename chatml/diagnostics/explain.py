"""The catalogue of diagnostic codes: what each means, with a program that fails and one that does not.

It is written in Markdown, a file for each family of codes, under `catalogue/` of the package that reports them.
"""

from __future__ import annotations

import re
from importlib.resources import files

from chatml.records import frozen

HEADING = re.compile(r"^## (\S+)$", re.MULTILINE)
EXAMPLE = re.compile(r"^```(\w+)( fails)?[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


KIND = re.compile(r"^(This is a|A) warning[.:]\s+")
SENTENCE = re.compile(r"(?<=[.:]) (?=[A-Z`])")


@frozen
class Example:
    """A program of an entry, its language (`chatml`, `chatmd`), and whether it fails with the entry's code."""

    text: str
    language: str
    fails: bool


@frozen
class Entry:
    """One code with its explanation in Markdown."""

    code: str
    text: str

    @property
    def title(self) -> str:
        """What the code is about: the first sentence of the explanation that says it.

        >>> Entry("a.b", "This is a warning. A task\\nis never run. More.").title
        'A task is never run.'
        """
        text = " ".join(KIND.sub("", self.text).split("\n\n")[0].split())
        title = SENTENCE.split(text, maxsplit=1)[0]
        return title[:1].upper() + title[1:]

    @property
    def examples(self) -> tuple[Example, ...]:
        """The programs of the explanation, in order."""
        found = EXAMPLE.findall(self.text)
        return tuple(Example(text, language, bool(fails)) for language, fails, text in found)


def read_catalogue(package: str) -> dict[str, Entry]:
    """The entries of a package's catalogue under their codes, families and codes in order."""
    entries = {}
    folder = files(package) / "catalogue"
    if folder.is_dir():
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            for entry in parse_catalogue(file.read_text(encoding="utf-8")):
                entries[entry.code] = entry
    return entries


def parse_catalogue(text: str) -> list[Entry]:
    """The entries of one file: each begins at a heading of the second level, which is its code.

    >>> [entry.code for entry in parse_catalogue("# Family\\n## a.b\\nOne.\\n## a.c\\nTwo.\\n")]
    ['a.b', 'a.c']
    """
    _, *parts = HEADING.split(text)
    return [Entry(code, body.strip()) for code, body in zip(parts[::2], parts[1::2], strict=True)]
