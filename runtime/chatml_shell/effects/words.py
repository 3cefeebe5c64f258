"""The words of a command: which are options, which are not, and which options name files."""

from __future__ import annotations

from collections.abc import Iterator

import attrs


@attrs.frozen
class Words:
    """The arguments of a command, taken apart as most programs do.

    >>> words = Words(("-n", "a", "--", "-b"))
    >>> words.positional, words.options
    (('a', '-b'), ('-n',))
    """

    arguments: tuple[str, ...]

    @property
    def positional(self) -> tuple[str, ...]:
        """What does not begin with a dash, and everything behind `--`."""
        return tuple(word for word, is_option in self._told() if not is_option)

    @property
    def options(self) -> tuple[str, ...]:
        """What begins with a dash, up to `--`."""
        return tuple(word for word, is_option in self._told() if is_option)

    def has(self, letters: str, *names: str) -> bool:
        """Whether an option may be one of these: a letter anywhere in a cluster, or a long name or its beginning.

        Programs take `-nf` for `-n -f`, and `--fi` for `--file`. A letter that is really the value of another option
        counts too: the answer errs on the side of yes.

        >>> Words(("-nf", "x")).has("f"), Words(("--fi=x",)).has("", "file"), Words(("-n",)).has("f", "file")
        (True, True, False)
        """
        for option in self.options:
            if not option.startswith("--"):
                if any(letter in option[1:] for letter in letters):
                    return True
            else:
                name = option[2:].partition("=")[0]
                if name and any(long.startswith(name) for long in names):
                    return True
        return False

    def _told(self) -> Iterator[tuple[str, bool]]:
        only_positional = False
        for word in self.arguments:
            if only_positional or not word.startswith("-"):
                yield word, False
            elif word == "--":
                only_positional = True
            else:
                yield word, True
