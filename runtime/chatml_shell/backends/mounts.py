"""What a command sees in the sandbox of Linux: a list of mounts, from what was granted (section 19).

Nothing is there that is not mounted. Mounts are made from the root downwards, so the deeper one counts; at one and the
same place a grant counts before a default, for it names the place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePath

import attrs

from chatmd.shell.backends import Bubblewrap
from chatml_shell.errors import Refusal
from chatml_shell.plans.plan import Order
from chatml_shell.processes.placeholders import is_placeholder
from chatml_shell.resolver.files import canonical

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc")
LATER = (
    *(".envrc", ".vscode", ".gitconfig", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".config/fish"),
)
"""What runs later, outside, because it is there: read-only in every writable root, unless it is granted by name."""
MADE_SAFE = (".envrc", ".vscode", ".git")
"""Those of which even the making is forbidden in every writable root; all of them are in the home directory."""
GIT = ("hooks", "config", "config.worktree", "modules")


@attrs.frozen
class Mounts:
    """Mounts by place, each as the words that make it, and the places that have to be made for them."""

    words: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    placeholders: list[str] = attrs.field(factory=list)

    def argv(self) -> tuple[str, ...]:
        """The words of all mounts, from the root downwards."""
        places = sorted(self.words, key=lambda place: PurePath(place).parts)
        return tuple(word for place in places for word in self.words[place])

    def bind(self, place: str, flag: str = "--ro-bind") -> None:
        self.words[place] = (flag, place, place)

    def shows(self, place: str) -> bool:
        """Whether a place can be seen: something at or above it is bound."""
        return any(words[0] in ("--bind", "--ro-bind") and below(place, root) for root, words in self.words.items())


def mounts(order: Order, options: Bubblewrap) -> Mounts:
    """The mounts for an order. Raises `Refusal` (`sandbox_unavailable`) where a link stands that has to stay."""
    grants, made = order.grants, Mounts()
    roots = (*grants.read_roots, *grants.write_roots)
    for place in SYSTEM:
        if os.path.islink(place):
            if "/" not in roots:
                made.words[place] = ("--symlink", os.readlink(place), place)
        elif os.path.isdir(place) and not any(below(place, root) for root in roots):
            made.bind(place)
    # The host's sockets, processes and devices are nowhere to be seen, not even where the whole disk is granted.
    bare = "/" in roots
    defaults = {
        "/tmp": ("--tmpfs", "/tmp") if options.private_tmp else (),
        "/run": ("--tmpfs", "/run") if bare else (),
        "/proc": ("--proc", "/proc") if options.proc else ("--tmpfs", "/proc") if bare else (),
        "/dev": ("--dev", "/dev") if options.dev == "minimal" else ("--tmpfs", "/dev") if bare else (),
    }
    made.words.update({place: words for place, words in defaults.items() if words})
    if grants.network and os.path.exists(names := canonical("/etc/resolv.conf")) and below(names, "/run"):
        made.bind(names)
    for root in grants.read_roots:
        if not any(below(root, write) for write in grants.write_roots):
            made.bind(root)
    for root in grants.write_roots:
        made.bind(root, "--bind")
    for root in grants.write_roots:
        _protect(made, root, order)
    return made


def below(path: str, root: str) -> bool:
    """Whether a canonical path is at or below another.

    >>> below("/usr/bin", "/usr"), below("/usrbin", "/usr")
    (True, False)
    """
    return PurePath(path).is_relative_to(root)


def _protect(made: Mounts, root: str, order: Order) -> None:
    """Keep a command from leaving behind, in a place that it may write, what somebody else would run."""
    if not os.path.isdir(root):
        return
    named = [other for other in order.grants.write_roots if other != root and below(other, root)]
    home = canonical(os.path.expanduser("~"))
    for base in _bases(root, order.cwd, home):
        for name in (".git", *LATER):
            place = os.path.join(base, name)
            if any(below(place, other) or below(other, place) for other in named):
                continue
            _refuse_link(place)
            missing = not os.path.lexists(place) or is_placeholder(place)
            if missing:
                may_make = base == home or (base == root and name in MADE_SAFE)
                if may_make and os.path.isdir(os.path.dirname(place)):
                    _forbid(made, place)
            elif name == ".git" and os.path.isdir(place):
                # A mount of its own cannot be moved away, with the protected parts in it.
                made.bind(place, "--bind")
                for part in GIT:
                    inner = os.path.join(place, part)
                    _refuse_link(inner)
                    if os.path.lexists(inner) and not is_placeholder(inner):
                        made.bind(inner)
                    elif part != "modules":
                        _forbid(made, inner)
            else:
                made.bind(place)


def _refuse_link(place: str) -> None:
    """A link cannot be kept from being replaced: only what it leads to can be mounted."""
    if os.path.islink(place):
        raise Refusal(
            "sandbox_unavailable",
            f"{place} is a link, which a sandbox cannot keep as it is; put a file there, or grant it by name",
        )


def _forbid(made: Mounts, place: str) -> None:
    """Nothing can be made at a place: an empty directory stands there that cannot be written."""
    if os.access(os.path.dirname(place), os.W_OK):
        made.placeholders.append(place)
        made.bind(place)


def _bases(root: str, cwd: str, home: str) -> Iterator[str]:
    """The directories of a writable root whose start files count: the root, those on the way to `cwd`, and the home."""
    yield root
    if below(home, root) and home != root:
        yield home
    place = cwd
    while below(place, root) and place != root:
        if place != home:
            yield place
        place = os.path.dirname(place)
