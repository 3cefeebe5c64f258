"""How long the state of a script lives, and where it is kept between processes (section 8.3).

`invocation` is fresh for each call, `session` one instance for a runtime, `runtime` one for the registry. Kept states
are data, bound to everything that they came from: a state of another runtime, script, kind or manifest is not restored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import attrs

from chatml.border.snapshot import decode, encode
from chatml.diagnostics.errors import ChatmlError
from chatml.values.model import Value
from chatml_runtime.script.effects import Effect
from chatml_shell.errors import StorageError
from chatml_shell.extensions.compile import CompiledExtension
from chatml_shell.extensions.session import Extension, Save, first_line
from chatml_shell.live.extension import ExtensionFailed
from chatml_shell.problems import fault
from chatml_shell.storage.state_file import StateFile

SECTION = "extension_snapshots"
ANY_RUNTIME = "*"
Key = dict[str, str]


class SnapshotStore(Protocol):
    """Keeps the states of scripts."""

    def load(self, key: Key) -> list[Any]:
        """The states that were kept under a key: one, or none. May raise `StorageError`."""

    def save(self, key: Key, state: Any) -> None:
        """Keep a state in the place of an earlier one. May raise `StorageError`."""


@attrs.frozen
class FileSnapshots:
    """States in the file of a session."""

    file: StateFile

    def load(self, key: Key) -> list[Any]:
        """The states under a key."""
        kept = self.file.read().get(SECTION, [])
        return [one["state"] for one in kept if one["key"] == key]

    def save(self, key: Key, state: Any) -> None:
        """Keep a state."""
        self.file.update(
            lambda held: {
                **held,
                SECTION: [
                    *(one for one in held.get(SECTION, []) if one["key"] != key),
                    {"key": key, "state": state},
                ],
            }
        )


@attrs.define
class Instances:
    """The scripts of a registry and their live instances."""

    compiled: Mapping[str, CompiledExtension]
    manifest_sha256: str
    snapshots: SnapshotStore | None = None
    _live: dict[tuple[str, str, str], Extension] = attrs.field(factory=dict, init=False)

    def open(self, script: str, function: str, runtime: str, lifecycle: str) -> None:
        """Make an instance that outlives calls, so that a script which cannot start is found out now.

        Raises `ShellError`: `shell.chatml_instantiate`, `shell.chatml_restore`, `shell.extension_snapshot_duplicate`.
        """
        if lifecycle == "invocation":
            self._started(script, function)
            return
        owner = runtime if lifecycle == "session" else ANY_RUNTIME
        if (script, function, owner) in self._live:
            return
        key = self._key(script, owner)
        kept = self._kept(script, key)
        extension = self._started(script, function, None if self.snapshots is None else self._saver(key))
        if kept:
            try:
                extension.session.restore(decode(kept[0]), (), halted=False)
            except ChatmlError as error:
                raise self._fault("shell.chatml_restore", script, first_line(error)) from None
        self._live[script, function, owner] = extension

    async def call(self, script: str, function: str, runtime: str, lifecycle: str, record: Value) -> Effect:
        """The action that a script takes. Raises `ExtensionFailed`."""
        owner = runtime if lifecycle == "session" else ANY_RUNTIME
        if lifecycle != "invocation":
            return await self._live[script, function, owner].call(record)
        try:
            extension = Extension(self.compiled[script], function)
        except ChatmlError as error:
            raise ExtensionFailed("shell.chatml_runtime", first_line(error)) from None
        return await extension.call(record)

    def _started(self, script: str, function: str, save: Save | None = None) -> Extension:
        try:
            return Extension(self.compiled[script], function, save)
        except ChatmlError as error:
            raise self._fault("shell.chatml_instantiate", script, first_line(error)) from None

    def _kept(self, script: str, key: Key) -> list[Any]:
        if self.snapshots is None:
            return []
        try:
            kept = self.snapshots.load(key)
        except (StorageError, KeyError, TypeError) as error:
            raise self._fault("shell.chatml_restore", script, str(error)) from None
        if len(kept) > 1:
            raise self._fault("shell.extension_snapshot_duplicate", script, f"{len(kept)} states are kept for it")
        return kept

    def _saver(self, key: Key) -> Save:
        def save(state: Value) -> None:
            try:
                assert self.snapshots is not None
                self.snapshots.save(key, encode(state))
            except (StorageError, ChatmlError) as error:
                raise SnapshotFailedError("shell.chatml_snapshot", str(error)) from None

        return save

    def _key(self, script: str, owner: str) -> Key:
        declared = self.compiled[script].script
        return {
            "runtime_id": owner,
            "script_id": script,
            "kind": declared.kind,
            "manifest_sha256": self.manifest_sha256,
            "source_sha256": declared.source_sha256,
        }

    def _fault(self, code: str, script: str, why: str) -> Exception:
        declared = self.compiled[script].script
        record = declared.source_record
        return fault(code, declared.span, path=("script", script), source=record, id=script, why=why)


class SnapshotFailedError(ChatmlError):
    """A state that could not be kept: the call that made it has not happened."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{code}: {why}")
