"""The built-in effects of common programs (section 14.2).

A row is a function from a command's words and directory to effects. Rows that ask for little (`MODEST`) count only for
a program of the system or a trusted one that was found under its own name (E-23); the others count for any program of
that name, because they ask for at least as much as an unknown one needs.

Beyond the table of the specification: an expression that is given by an option makes the first word of `grep` and `rg`
a file; `mv` writes what it moves away; `find` has options before its paths; and a link under a harmless name that leads
to another program is that program.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable

from chatml_shell.effects.effect import CHILDREN, CODE, NETWORK, PRIVILEGE, Effects, joined, read, unknown, write
from chatml_shell.effects.find import find_effects
from chatml_shell.effects.words import Words
from chatml_shell.plans.command import Command, Kind
from chatml_shell.plans.executable import Executable
from chatml_shell.resolver.files import is_system

Row = Callable[[Words, str], Effects]

RAW_SHELL = (CODE, CHILDREN, unknown("text for a shell"))
NAMES_FILES = unknown("an option names a file")


def builtin_effects(command: Command, executable: Executable, kind: Kind, cwd: str) -> Effects:
    """The effects of a command in the directory `cwd`, without repetitions."""
    if kind == "raw_shell":
        return RAW_SHELL
    name = posixpath.basename(command.program).lower()
    words = Words(command.arguments)
    anything = (CODE, CHILDREN, unknown(f"the program {name}"))
    if name in BOLD:
        effects = BOLD[name](words, cwd)
        return effects if name not in PRIVILEGED or is_itself(executable, name) else joined(effects, anything)
    if name in MODEST and is_itself(executable, name):
        return joined((), MODEST[name](words, cwd))
    return anything


def is_itself(executable: Executable, name: str) -> bool:
    """Whether an executable is the program of that name, of the system or trusted.

    A link called `echo` in a workspace that leads to `/bin/sh` is not `echo`, although what it leads to is a program
    of the system: either the file itself has the name, or the link is one of the system's directories, or a trusted
    alias says so.
    """
    if not (executable.trusted or is_system(executable.canonical)):
        return False
    if posixpath.basename(executable.canonical).lower() == name:
        return True
    hit = posixpath.basename(executable.path)
    if hit.lower() == name:
        return is_system(os.path.realpath(posixpath.dirname(executable.path)))
    return executable.trusted and "/" not in executable.requested


def at(cwd: str, path: str) -> str:
    """A path as a command in a directory means it."""
    return posixpath.join(cwd, path)


def _nothing(words: Words, cwd: str) -> Effects:
    return ()


def _reads(words: Words, cwd: str) -> Effects:
    files = tuple(read(at(cwd, path)) for path in words.positional)
    return (*files, NAMES_FILES) if words.has("", "files0-from") else files


def _lists(words: Words, cwd: str) -> Effects:
    return tuple(read(at(cwd, path)) for path in words.positional) or (read(cwd),)


def _searched(words: Words, expression_given: bool) -> tuple[str, ...]:
    """The files of a search: the first word is the expression, unless an option gives one."""
    return words.positional if expression_given else words.positional[1:]


def _grep(words: Words, cwd: str) -> Effects:
    files = _searched(words, words.has("ef", "regexp", "file"))
    effects: Effects = tuple(read(at(cwd, path)) for path in files)
    if not files and words.has("rRd", "recursive", "dereference-recursive", "directories"):
        effects = (read(cwd),)
    return (*effects, NAMES_FILES) if words.has("f", "file", "exclude-from") else effects


def _rg(words: Words, cwd: str) -> Effects:
    if words.has("", "pre", "hostname-bin"):
        return (CODE, CHILDREN)
    files = _searched(words, words.has("ef", "regexp", "file", "files"))
    effects: Effects = tuple(read(at(cwd, path)) for path in files) or (read(cwd),)
    if words.has("z", "search-zip"):
        effects = (*effects, CHILDREN, unknown("programs that unpack"))
    return (*effects, NAMES_FILES) if words.has("f", "file", "ignore-file") else effects


def _writes(words: Words, cwd: str) -> Effects:
    return tuple(write(at(cwd, path)) for path in words.positional)


def _touch(words: Words, cwd: str) -> Effects:
    effects = _writes(words, cwd)
    return (*effects, NAMES_FILES) if words.has("r", "reference") else effects


def _copies(words: Words, cwd: str) -> Effects:
    if not words.positional:
        return (unknown("nothing to copy"),)
    *sources, target = (at(cwd, path) for path in words.positional)
    effects = (*map(read, sources), write(target))
    return (*effects, NAMES_FILES) if words.has("t", "target-directory") else effects


def _moves(words: Words, cwd: str) -> Effects:
    sources = words.positional if words.has("t", "target-directory") else words.positional[:-1]
    return (*_copies(words, cwd), *(write(at(cwd, path)) for path in sources))


def _runs_code(words: Words, cwd: str) -> Effects:
    return (CODE, CHILDREN)


def _privileged(words: Words, cwd: str) -> Effects:
    return (PRIVILEGE, write(cwd), CHILDREN)


def _networked(words: Words, cwd: str) -> Effects:
    return (NETWORK, write(cwd), unknown("what comes over the network"))


def _builds(words: Words, cwd: str) -> Effects:
    return (read(cwd), write(cwd), CODE, CHILDREN, unknown("what a project's files ask for"))


PRIVILEGED = frozenset(("sudo", "su", "doas", "chown", "chmod", "mount", "umount"))
INTERPRETERS = ("sh", "bash", "zsh", "fish", "python", "python3", "ruby", "perl", "node", "env", "xargs")

BOLD: dict[str, Row] = {
    **dict.fromkeys(INTERPRETERS, _runs_code),
    **dict.fromkeys(PRIVILEGED, _privileged),
    **dict.fromkeys(("curl", "wget", "ssh", "scp", "nc", "ncat", "telnet"), _networked),
    **dict.fromkeys(("git", "cargo", "make", "dune", "npm", "pnpm", "opam"), _builds),
}
MODEST: dict[str, Row] = {
    **dict.fromkeys(("pwd", "echo", "printf", "true", "false"), _nothing),
    **dict.fromkeys(("cat", "head", "tail", "wc"), _reads),
    "ls": _lists,
    "grep": _grep,
    "rg": _rg,
    **dict.fromkeys(("rm", "rmdir", "mkdir"), _writes),
    "touch": _touch,
    "cp": _copies,
    "mv": _moves,
    "find": find_effects,
}
