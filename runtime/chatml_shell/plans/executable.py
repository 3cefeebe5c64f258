"""An executable: the file that a program's name led to, and the fingerprint that it had."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Fingerprint:
    """What a file was when it was looked at. Times are nanoseconds, `sha256` is lower-case hexadecimal."""

    device: int
    inode: int
    mode: int
    uid: int
    gid: int
    size: int
    mtime_ns: int
    sha256: str


@attrs.frozen(kw_only=True)
class Executable:
    """A file to be executed: the name that was asked for, where it was found, and where its links lead.

    `trusted` is the resolver's word (shell.md section 14.1): an alias or a root says so, and nobody but its owner can
    write the file.
    """

    requested: str
    path: str
    canonical: str
    trusted: bool
    fingerprint: Fingerprint

    @property
    def sha256(self) -> str:
        """The digest of the file's content."""
        return self.fingerprint.sha256
