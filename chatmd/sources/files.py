"""Reading files: only regular ones, only so much, and only below a directory when one is set.

Everything that a document makes the toolkit read goes through a `Reader`, which a host may replace.
"""

from __future__ import annotations

import errno
import os
import os.path
import stat
import tempfile
from collections.abc import Callable

MIB = 1024 * 1024
CHUNK = 1 * MIB


class UnreadableError(OSError):
    """A file that cannot or must not be read; its message says why, as a sentence without a full stop."""

    def __str__(self) -> str:
        return str(self.args[0])


Reader = Callable[[str, int], bytes]
"""Reads the file at an absolute path, at most so many bytes; raises `UnreadableError` or another `OSError`.
"""


def read_regular(path: str, limit: int) -> bytes:
    """The bytes of a regular file, `limit` at most.

    Directories, devices, pipes and sockets are refused without waiting for them. Raises `UnreadableError`.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        raise UnreadableError(reason(error)) from None
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise UnreadableError("it is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("it is not a regular file")
        return _read(handle, limit)
    except OSError as error:
        raise UnreadableError(reason(error)) from None
    finally:
        os.close(handle)


def _read(handle: int, limit: int) -> bytes:
    chunks = []
    left = limit
    while chunk := os.read(handle, min(CHUNK, left + 1)):
        chunks.append(chunk)
        left -= len(chunk)
        if left < 0:
            raise UnreadableError(f"it is larger than the limit of {limit} bytes")
    return b"".join(chunks)


def replace_file(path: str | os.PathLike[str], data: bytes, *, mode: int = 0o600) -> None:
    """Write a file as a whole: readers see the old one or the new one, never a part. Raises `OSError`."""
    handle, draft = tempfile.mkstemp(prefix=".new-", dir=os.path.dirname(os.path.abspath(path)))
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, mode)
            file.write(data)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


WORDS = {
    errno.ENOENT: "no such file",
    errno.ENOTDIR: "no such file",
    errno.EACCES: "reading it is not permitted",
    errno.EPERM: "reading it is not permitted",
    errno.ELOOP: "its symbolic links go in a circle",
    errno.ENAMETOOLONG: "its name is too long",
    errno.EISDIR: "it is a directory",
    errno.ENXIO: "it is not a regular file",
}


def reason(error: OSError | ValueError) -> str:
    """Why a file could not be read, as a sentence without a full stop."""
    if isinstance(error, UnreadableError):
        return str(error)
    if isinstance(error, OSError):
        return WORDS.get(error.errno or 0) or error.strerror or str(error)
    return "its name holds a character that no file name can hold"


def directory_of(path: str) -> str:
    """The directory part of a path as written, with either slash.

    >>> directory_of("a/b.md"), directory_of("b.md")
    ('a', '')
    """
    return os.path.dirname(path.replace("\\", "/"))


def normalised(directory: str, path: str) -> str:
    """An absolute path without `.` and `..`, taken lexically; a backslash counts as a slash (section 4.7).

    >>> normalised("/p/a", "..\\\\b/./c.md")
    '/p/b/c.md'
    """
    return os.path.normpath(os.path.join(directory, path.replace("\\", "/")))


def normalised_beside(file: str, path: str) -> str:
    """The name of a file that another one refers to, as seen from where that one's name is seen from.

    >>> normalised_beside("prompts/main.chatmd", "../lib/x.md")
    'lib/x.md'
    """
    return normalised(directory_of(file), path)


def is_below(path: str, directory: str) -> bool:
    """Whether an absolute path is a directory or below it; both taken as they are written.

    >>> is_below("/p/ab", "/p/a"), is_below("/p/a/b", "/p/a"), is_below("/x", "/")
    (False, True, True)
    """
    return path == directory or path.startswith(directory.rstrip("/") + "/")
