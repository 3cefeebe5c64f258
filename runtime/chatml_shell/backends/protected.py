"""What stays read-only inside of writable roots: files that make somebody run something later, outside of the sandbox.

A command that may write a workspace could leave a hook of Git there, a setting of an editor, a start file of a shell;
whoever uses the workspace next would run it, unconfined. So these are mounted over, unless they are granted by name.
One that does not exist is kept from being made by an empty place that is there while the command runs. Only the top of
a root is kept so, and the user's home: a repository further down has its own hooks.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator, Sequence

import attrs

from chatml_shell.errors import Refusal
from chatml_shell.processes.placeholders import is_placeholder
from chatml_shell.resolver.files import within

IN_ROOTS = (".git/hooks", ".git/config", ".envrc", ".vscode")
IN_HOME = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".gitconfig",
    ".ssh",
)


@attrs.frozen
class Kept:
    """A path that stays as it is; one that is missing needs a place to be mounted over."""

    path: str
    is_missing: bool


def protected(write_roots: Sequence[str], home: str | None) -> list[Kept]:
    """What is kept in some writable roots. Raises `Refusal` (`sandbox_unavailable`) where a link is in the way."""
    found = dict.fromkeys(_candidates(write_roots, home))
    return [kept for path in found if (kept := _kept(path, write_roots)) is not None]


def _candidates(write_roots: Sequence[str], home: str | None) -> Iterator[str]:
    for root in write_roots:
        if os.path.isdir(root):
            yield from (posixpath.join(root, name) for name in IN_ROOTS)
    if home is not None and within(home, write_roots):
        yield from (posixpath.join(home, name) for name in IN_HOME)


def _kept(path: str, write_roots: Sequence[str]) -> Kept | None:
    """How one path is kept; None where a root grants it, or a part of it, by name.

    A part of the path that is missing is kept from being made: without `.git` there is no `.git/hooks`. Where `.git` is
    a file, as in a worktree, the file itself is kept.
    """
    if any(root == path or root.startswith(path + "/") for root in write_roots):
        return None
    parent = posixpath.dirname(path)
    if posixpath.basename(parent) == ".git":
        if parent in write_roots:
            return None
        if not os.path.isdir(parent) or os.path.islink(parent) or is_placeholder(parent):
            return _kept(parent, write_roots)
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return Kept(path, True)
    if stat.S_ISLNK(mode):
        raise Refusal(
            "sandbox_unavailable",
            f"{path} is a link and cannot be kept from being replaced: grant it by name as a root",
        )
    return Kept(path, is_placeholder(path))
