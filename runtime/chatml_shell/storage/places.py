"""Where state is kept: beside a session, and below the user's state directory for what outlives sessions (E-29)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from chatml_shell.storage.state_file import StateFile

SESSION = ".chatmd/shell-state.json"
DURABLE = "chatmd/shell-approvals.json"


def session_file(session_dir: str) -> StateFile:
    """The shell state of a session."""
    return StateFile(os.path.join(session_dir, SESSION), write_code="shell.approval_session_write_failed")


def durable_file(environment: Mapping[str, str], home: str, key: bytes | None = None) -> StateFile:
    """The durable approvals of a user, one file for all sessions. `key` seals it.

    >>> durable_file({"XDG_STATE_HOME": "/var/state"}, "/home/ada").path
    '/var/state/chatmd/shell-approvals.json'
    """
    state = environment.get("XDG_STATE_HOME", "")
    base = state if os.path.isabs(state) else os.path.join(home, ".local/state")
    return StateFile(os.path.join(base, DURABLE), key=key)
