"""A JSON object in a file: versioned, private, replaced atomically, locked while it changes, sealed where a key is."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from chatml_shell.errors import StorageError

LARGEST = 16 << 20
TRIES = 200
PAUSE = 0.01
"""How often, and how many seconds apart, a lock is tried."""

Json = dict[str, Any]


@attrs.frozen
class StateFile:
    """The file at `path`. `key` seals it; `write_code` is the code of a change that could not be stored.

    Every method raises `StorageError`: `shell.approval_file_version`, `_integrity`, `_read_failed`, `_locked`, and
    `write_code`.
    """

    path: str
    version: int = 1
    key: bytes | None = attrs.field(default=None, repr=False)
    write_code: str = "shell.approval_file_write_failed"

    def read(self) -> Json:
        """What the file holds; an empty object when there is none."""
        try:
            with open(self.path, "rb") as file:
                data = file.read(LARGEST + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError("shell.approval_file_read_failed", f"{self.path}: {error.strerror}") from error
        return self._opened(data)

    def update(self, change: Callable[[Json], Json]) -> None:
        """Replace what the file holds by what `change` makes of it."""
        with self._locked():
            self._write(self._sealed(change(self.read())))

    def _opened(self, data: bytes) -> Json:
        try:
            envelope = json.loads(data.decode("utf-8")) if len(data) <= LARGEST else None
        except (ValueError, RecursionError):
            envelope = None
        if not isinstance(envelope, dict) or not isinstance(envelope.get("state"), dict):
            raise StorageError("shell.approval_file_integrity", f"{self.path} is damaged; delete it to begin anew")
        if envelope.get("version") != self.version:
            found = envelope.get("version")
            raise StorageError("shell.approval_file_version", f"{self.path} has version {found}, not {self.version}")
        state: Json = envelope["state"]
        if self.key is not None and not hmac.compare_digest(str(envelope.get("seal")), self._seal(state)):
            raise StorageError(
                "shell.approval_file_integrity", f"{self.path} was not written with this key; nothing in it is trusted"
            )
        return state

    def _sealed(self, state: Json) -> bytes:
        envelope: Json = {"version": self.version, "state": state}
        if self.key is not None:
            envelope["seal"] = self._seal(state)
        return json.dumps(envelope, ensure_ascii=False, sort_keys=True).encode("utf-8")

    def _seal(self, state: Json) -> str:
        text = json.dumps([self.version, state], ensure_ascii=False, sort_keys=True)
        return hmac.new(self.key or b"", text.encode("utf-8"), hashlib.sha256).hexdigest()

    def _write(self, data: bytes) -> None:
        directory = os.path.dirname(self.path)
        try:
            descriptor, temporary = tempfile.mkstemp(dir=directory, prefix=".state-")  # mkstemp makes it 0600
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, self.path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            raise StorageError(self.write_code, f"{self.path}: {error.strerror}") from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            descriptor = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StorageError(self.write_code, f"{self.path}: {error.strerror}") from error
        try:
            for _ in range(TRIES):
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(PAUSE)
            else:
                raise StorageError("shell.approval_file_locked", f"{self.path} is being written by another process")
            yield
        finally:
            os.close(descriptor)
