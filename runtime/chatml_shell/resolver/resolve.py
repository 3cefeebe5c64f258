"""From the name of a program to the file that it is."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping

import attrs

from chatml_shell.errors import Refusal
from chatml_shell.plans.executable import Executable, Fingerprint
from chatml_shell.resolver.files import SHARED_WRITE, fingerprint, of_status, settled, within

MOST_LINKS = 40


@attrs.frozen
class Alias:
    """A program with a name of its own. `sha256` is the digest that it must have, in any case; None takes what is
    there."""

    path: str
    sha256: str | None = None
    trusted: bool = False


def _absolute(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(entry for entry in entries if os.path.isabs(entry))


@attrs.frozen
class Resolver:
    """Where a runtime finds its programs: aliases by id, directories in order, and directories that are trusted.

    All paths are absolute. Relative and empty entries of the search path are dropped.

    >>> Resolver({}, ("/usr/bin", "/bin"), ("/usr",)).resolve("env", "/").trusted
    True
    """

    aliases: Mapping[str, Alias]
    search_path: tuple[str, ...] = attrs.field(converter=_absolute)
    trusted_roots: tuple[str, ...]
    _known: dict[str, Fingerprint] = attrs.field(factory=dict, init=False, eq=False, repr=False)

    def resolve(self, program: str, cwd: str) -> Executable:
        """The executable that a program's text names for a command in `cwd` (section 14.1).

        Raises `Refusal`: `resolution_error` when there is none, `executable_changed` when an alias leads to another
        content than it must.
        """
        alias = self.aliases.get(program)
        if alias is None:
            return self._inspect(program, self._find(program, cwd), marked=False)
        found = self._inspect(program, alias.path, marked=alias.trusted)
        if alias.sha256 is not None and found.sha256 != alias.sha256.lower():
            raise Refusal(
                "executable_changed",
                f"`{program}` is {alias.path} with the digest {alias.sha256.lower()}, but the file has {found.sha256}",
            )
        return found

    def _find(self, program: str, cwd: str) -> str:
        if not program or "\0" in program:
            raise _unresolved(program, "the name of a program is not empty and holds no NUL")
        if "/" in program:
            return os.path.join(cwd, program)
        for directory in self.search_path:
            hit = os.path.join(directory, program)
            if os.path.lexists(hit):
                return hit
        searched = ", ".join(self.search_path) or "an empty search path"
        raise _unresolved(program, f"there is none in {searched}")

    def _inspect(self, program: str, path: str, *, marked: bool) -> Executable:
        found = _inspect(program, path, marked, self._known)
        trusted = marked or within(found.canonical, self.trusted_roots)
        return attrs.evolve(found, trusted=trusted and not found.fingerprint.mode & SHARED_WRITE)


def pin(path: str, *, requested: str | None = None, trusted: bool = False) -> Executable:
    """The executable at a path, as it is now: a wrapper, a hook, the interpreter of a script.

    Raises `Refusal` (`resolution_error`) when no file can be executed there.
    """
    found = _inspect(requested or path, path, trusted, {})
    return attrs.evolve(found, trusted=trusted and not found.fingerprint.mode & SHARED_WRITE)


def verify(executable: Executable) -> None:
    """Raise `Refusal` (`executable_changed`) unless the file is still what it was, content included."""
    try:
        now = fingerprint(executable.canonical)
    except OSError as error:
        raise Refusal("executable_changed", f"{executable.canonical} cannot be verified: {_why(error)}") from error
    if now != executable.fingerprint:
        raise Refusal("executable_changed", f"{executable.canonical} is not the file that was reviewed")


def _inspect(program: str, path: str, trusted: bool, known: dict[str, Fingerprint]) -> Executable:
    """The executable behind a path. `known` remembers the content of files that cannot change unseen."""
    try:
        os.stat(path)  # the kernel counts links, and refuses more than `MOST_LINKS`
        place = os.path.realpath(path, strict=True)
        status = os.stat(place, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise _unresolved(program, f"{place} is not a regular file")
        if not status.st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH):
            raise _unresolved(program, f"{place} is not executable")
        content = known.get(place)
        if content is None or of_status(status, content.sha256) != content:
            content = fingerprint(place)
            if settled(content.mode, content.uid):
                known[place] = content
    except (OSError, ValueError) as error:
        raise _unresolved(program, f"{path}: {_why(error)}") from error
    return Executable(requested=program, path=path, canonical=place, trusted=trusted, fingerprint=content)


def _unresolved(program: str, why: str) -> Refusal:
    return Refusal("resolution_error", f"no program `{program}`: {why}")


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        if error.errno == errno.ELOOP:
            return f"a link in its last place, a circle of links, or more than {MOST_LINKS} of them"
        return os.strerror(error.errno).lower()
    return str(error)
