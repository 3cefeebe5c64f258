"""A file of chained records, which several processes may share (section 20.3)."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from chatml_shell.audit.chain import RECOVERED, START, Link, is_object, read, seal
from chatml_shell.audit.events import instant
from chatml_shell.audit.sinks import Clock
from chatml_shell.errors import StorageError

SESSION_FILE = ".chatmd/shell-audit.jsonl"
ROTATE_AT = 10 * 2**20
KEPT_ROTATIONS = 5
PIECE = 1 << 13
LOCK_ATTEMPTS, LOCK_PAUSE = 2000, 0.001
FLAGS = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


@attrs.define
class ChainedFile:
    """Appends records behind whatever was appended last, by this process or another.

    With `rotate_at`, a file of so many bytes is set aside and the chain goes on in a new one. With `durable`, a record
    is on the disk when `append` returns; otherwise the operating system has it, and it outlives this process but not
    the machine.
    """

    path: Path
    clock: Clock
    durable: bool = False
    rotate_at: int | None = None
    _file: int = attrs.field(default=-1, init=False)
    _end: int = attrs.field(default=-1, init=False)
    _link: Link = attrs.field(default=START, init=False)

    def open(self) -> None:
        """Make the file and its directories if need be, and find its end. Raises `StorageError`."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked(create=True):
                pass
        except OSError as error:
            raise StorageError("shell.audit_open_failed", f"{self.path}: {_why(error)}") from error

    def append(self, fields: Mapping[str, Any]) -> None:
        """Put a record at the end, whole or not at all. Raises `StorageError`."""
        try:
            with self._locked():
                if self.rotate_at is not None and self._end >= self.rotate_at:
                    self._rotate()
                self._write(fields)
        except OSError as error:
            raise StorageError("shell.audit_write_failed", f"{self.path}: {_why(error)}") from error

    def next_sequence(self) -> int:
        """The sequence of the next record, unless another process writes before."""
        return self._link.sequence + 1

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, fields: Mapping[str, Any], before: bytes = b"") -> None:
        line, link = seal(fields, self._link, instant(self.clock()))
        rest = data = before + line
        try:
            while rest:  # a disk that is nearly full takes a part, and refuses the next
                rest = rest[os.write(self._file, rest) :]
            if self.durable:
                os.fsync(self._file)
        except BaseException:
            with contextlib.suppress(OSError):  # if this fails too, the next append finds a torn line
                os.ftruncate(self._file, self._end)
            raise
        self._end += len(data)
        self._link = link

    @contextlib.contextmanager
    def _locked(self, create: bool = False) -> Iterator[None]:
        """Hold the lock, with the file open and its end known."""
        with locked(self.path):
            self._catch_up(create)
            yield

    def _catch_up(self, create: bool) -> None:
        """Know the end of the file, whoever wrote last.

        A file that has vanished under a running host is not made anew, for that would hide it, unless another process
        was stopped while it set the file aside.
        """
        status = _status(self.path)
        mine = os.fstat(self._file) if self._file >= 0 else None
        if status is not None and mine is not None and os.path.samestat(status, mine):
            if status.st_size == self._end:
                return
        else:
            aside = _status(rotated(self.path, 1))
            create = create or (mine is not None and aside is not None and os.path.samestat(aside, mine))
            made = os.O_CREAT | os.O_EXCL if status is None and create else 0
            opened = os.open(self.path, FLAGS | made, 0o600)
            self.close()
            self._file = opened
        self._end = os.fstat(self._file).st_size
        link, torn, whole = last_link(self._file, self._end)
        self._link = self._link_aside() if link is None else link
        if torn:
            found = {"torn_bytes": len(torn), "torn_sha256": hashlib.sha256(torn).hexdigest()}
            self._write({"event": RECOVERED, **found}, before=b"" if whole else b"\n")
        elif not whole:
            self._end += os.write(self._file, b"\n")

    def _link_aside(self) -> Link:
        """The link that a file without a record goes on from: that of the file that was set aside last."""
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(rotated(self.path, 1), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                return last_link(descriptor, os.fstat(descriptor).st_size)[0] or START
            finally:
                os.close(descriptor)
        return START

    def _rotate(self) -> None:
        """Set the file aside as number 1, and those that are there one further, up to a number that is free."""
        free = next((n for n in range(1, KEPT_ROTATIONS) if not rotated(self.path, n).exists()), KEPT_ROTATIONS)
        for number in range(free, 1, -1):
            rotated(self.path, number - 1).replace(rotated(self.path, number))
        self.path.replace(rotated(self.path, 1))
        opened = os.open(self.path, FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        self.close()
        self._file, self._end = opened, 0


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of an audit file. Raises `StorageError` when another process does not let go of it."""
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        for _ in range(LOCK_ATTEMPTS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(LOCK_PAUSE)
        else:
            raise StorageError("shell.audit_management_locked", f"another process keeps {path} locked")
        yield
    finally:
        os.close(descriptor)


def rotated(path: Path, number: int) -> Path:
    """Where the file that was set aside as a number stands.

    >>> str(rotated(Path("shell-audit.jsonl"), 2))
    'shell-audit.jsonl.2'
    """
    return path.with_name(f"{path.name}.{number}")


def last_link(file: int, end: int) -> tuple[Link | None, bytes, bool]:
    """The link of the last record of a file that ends at `end`, what is torn behind it, and whether the last line has
    its end. Raises `StorageError` when the last line of JSON is not a sound record: nobody may go on from there.
    """
    size = PIECE
    while True:
        start = max(end - size, 0)
        data = os.pread(file, end - start, start)
        lines = data.split(b"\n")
        for index in range(len(lines) - 1, 0 if start else -1, -1):  # the first one begins before the piece
            if is_object(lines[index]):
                torn = b"\n".join(lines[index + 1 :])
                return read(lines[index]).link, torn.removesuffix(b"\n"), data.endswith(b"\n")
        if start == 0:
            return None, data.removesuffix(b"\n"), not data or data.endswith(b"\n")
        size *= 4


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _why(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else str(error)
