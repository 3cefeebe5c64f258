"""What comes of a request: texts without secrets, and a record of each command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from chatml_shell.plans.outcome import Status, status_json


@attrs.frozen(kw_only=True)
class CommandRecord:
    """A command that was carried out, or answered by an interceptor (`intercepted_by`; then nothing was started)."""

    argv: tuple[str, ...]
    executable: str
    executable_sha256: str
    status: Status
    backend: str | None
    intercepted_by: str | None = None


@attrs.frozen(kw_only=True)
class Result:
    """The end of a request. Everything is redacted; output is untrusted whatever it says."""

    request_id: str
    runtime_id: str
    manifest_sha256: str
    status: Status
    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    backend: str
    commands: Sequence[CommandRecord]


def result_json(result: Result) -> dict[str, Any]:
    """A result as plain data (section 12.5)."""
    return {
        "request_id": result.request_id,
        "status": status_json(result.status),
        "stdout": result.stdout,
        "stderr": result.stderr,
        "stdout_truncated": result.stdout_truncated,
        "stderr_truncated": result.stderr_truncated,
        "backend": result.backend,
        "runtime_id": result.runtime_id,
        "manifest_sha256": result.manifest_sha256,
        "commands": [
            {
                "argv": list(one.argv),
                "program": one.argv[0],
                "arguments": list(one.argv[1:]),
                "executable": one.executable,
                "executable_sha256": one.executable_sha256,
                "status": status_json(one.status),
                "intercepted_by": one.intercepted_by,
            }
            for one in result.commands
        ],
    }
