"""Files as they are: fingerprints, and paths whose links are resolved."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import PurePath

from chatml_shell.plans.executable import Fingerprint

SYSTEM = ("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin")
"""Where programs count as the system's own (E-23)."""

PIECE = 1 << 20
SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH


class ChangedWhileReading(OSError):
    """A file that was written while its fingerprint was taken."""


def fingerprint(path: str) -> Fingerprint:
    """What the regular file at `path` is now. The last part of the path may not be a link.

    Raises `OSError`: missing, unreadable, no regular file, or changed while it was read (`ChangedWhileReading`).
    """
    # A pipe would block the open and a device might act on it: O_NONBLOCK lets both through to the check below.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(f"{path} is not a regular file")
        digest = hashlib.sha256()
        while piece := file.read(PIECE):
            digest.update(piece)
        after = os.fstat(descriptor)
    if (before.st_size, before.st_mtime_ns, before.st_ctime_ns) != (
        after.st_size,
        after.st_mtime_ns,
        after.st_ctime_ns,
    ):
        raise ChangedWhileReading(f"{path} changed while it was read")
    return of_status(after, digest.hexdigest())


def of_status(status: os.stat_result, sha256: str) -> Fingerprint:
    """The fingerprint of a file with this status and content."""
    return Fingerprint(
        device=status.st_dev,
        inode=status.st_ino,
        mode=status.st_mode,
        uid=status.st_uid,
        gid=status.st_gid,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        sha256=sha256,
    )


def settled(mode: int, uid: int) -> bool:
    """Whether only the administrator can change a file, and this process does not run as the administrator.

    The content of such a file need not be read again while its status stays the same. For an administrator no file is
    settled: what a command starts could write any of them.
    """
    return uid == 0 and not mode & SHARED_WRITE and os.geteuid() != 0


def canonical(path: str) -> str:
    """A path with all its links resolved; of a missing one, the nearest ancestor that exists and the rest.

    >>> canonical("/usr/../nowhere/at/all")
    '/nowhere/at/all'
    """
    return os.path.realpath(path)


def within(path: str, roots: Iterable[str]) -> bool:
    """Whether a path lies at or below one of the roots, links resolved on both sides.

    >>> within("/usr/bin", ["/usr"]), within("/usrbin", ["/usr"]), within("/anything", ["/"])
    (True, False, True)
    """
    place = PurePath(canonical(path))
    return any(place.is_relative_to(canonical(root)) for root in roots)


def is_system(path: str) -> bool:
    """Whether a canonical path lies below a directory of the system's programs (E-23).

    >>> is_system("/usr/local/bin/rg"), is_system("/home/ada/bin/echo")
    (True, False)
    """
    place = PurePath(path)
    return any(place.is_relative_to(one) for directory in SYSTEM for one in (directory, canonical(directory)))
