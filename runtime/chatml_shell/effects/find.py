"""The effects of `find`, which reads trees, and runs, writes and deletes by its expression (E-22)."""

from __future__ import annotations

import posixpath

from chatml_shell.effects.effect import CHILDREN, CODE, Effect, Effects, read, unknown, write
from chatml_shell.effects.words import Words

EXECUTES = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
WRITES_NEXT = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))
READS_NEXT = frozenset(("-anewer", "-cnewer", "-newer", "-samefile"))
UNKNOWN = frozenset(("-files0-from", "-f"))
BEFORE_PATHS = frozenset(("-H", "-L", "-P"))


def find_effects(words: Words, cwd: str) -> Effects:
    """What `find` does: its paths are the arguments before its expression, or the directory.

    >>> [str(effect) for effect in find_effects(Words(("-L", "/etc", "-fprint", "o")), "/w")]
    ['read:/etc', 'write:/w/o']
    """
    arguments = list(words.arguments)
    while arguments and (arguments[0] in BEFORE_PATHS or arguments[0].startswith(("-O", "-D"))):
        arguments = arguments[2 if arguments[0] == "-D" else 1 :]
    paths: list[str] = []
    while arguments and not arguments[0].startswith(("-", "(", "!")):
        paths.append(posixpath.join(cwd, arguments.pop(0)))
    trees = paths or [cwd]
    effects: list[Effect] = [read(tree) for tree in trees]
    if EXECUTES & set(arguments):
        effects += (CODE, CHILDREN)
    elif "-delete" in arguments:
        effects += (write(tree) for tree in trees)
    for option, following in zip(arguments, [*arguments, ""][1:], strict=True):
        if option in WRITES_NEXT:
            effects.append(write(posixpath.join(cwd, following)))
        elif option in READS_NEXT or option.startswith("-newer"):
            effects.append(read(posixpath.join(cwd, following)))
        elif option in UNKNOWN:
            effects.append(unknown("paths that a file names"))
    return tuple(effects)
