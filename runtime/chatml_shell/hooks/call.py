"""One call of a hook: a process of its worker runtime, its input on standard input, its reply on standard output."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import Any

import attrs

from chatml_shell.approvals.identity import identify
from chatml_shell.approvals.question import quoted
from chatml_shell.errors import Refusal
from chatml_shell.executor.run import execute
from chatml_shell.extensions.inputs import audit_record, context_record, result_record
from chatml_shell.hooks.protocol import Json, broken, read_reply
from chatml_shell.live.extension import Finished
from chatml_shell.live.runtime import LiveRuntime
from chatml_shell.manifest.canonical import canonical
from chatml_shell.output.redact import Redactor
from chatml_shell.plans.command import Command
from chatml_shell.plans.grants import Grants
from chatml_shell.plans.outcome import SUCCESS, show_status
from chatml_shell.plans.request import Request, of_command
from chatml_shell.policy.decide import Decision
from chatml_shell.policy.subject import Subject
from chatml_shell.processes.launcher import Launcher

MAX_INPUT = 1 << 20
MAX_OUTPUT = 256 << 10
NUMBERS = itertools.count(1)


@attrs.frozen(kw_only=True)
class LiveHook:
    """A program that extends a runtime. `program` is a name that only its `worker` knows, pinned to the file that was
    there when the worker was made; `timeout` is in seconds, None for the worker's own."""

    id: str
    kind: str
    program: str
    worker: LiveRuntime
    launcher: Launcher
    timeout: float | None
    max_input: int
    max_output: int

    async def ask(self, payload: Any) -> Json:
        """The reply to a payload. Raises `ExtensionFailed` with one of the codes of section 17."""
        request_id = f"shell-hook-{next(NUMBERS):08d}"
        message = {
            "hook_id": self.id,
            "kind": self.kind,
            "payload": payload,
            "request_id": request_id,
            "version": 1,
        }
        stdin = canonical(message).encode("utf-8", "replace")
        if len(stdin) > self.max_input:
            raise broken("shell.hook_input_limit", f"the input has more than {self.max_input} bytes")
        request = Request(chain=of_command(Command(self.program)), stdin=stdin, origin=f"host:hook:{self.id}")
        try:
            async with asyncio.timeout(self.timeout):
                result = await execute(self.worker, request, self.launcher)
        except TimeoutError:
            raise broken("shell.hook_execution", f"it took longer than {self.timeout} s") from None
        except Refusal as refusal:
            raise broken("shell.hook_execution", str(refusal)) from None
        if result.status != SUCCESS:
            raise broken("shell.hook_nonzero_exit", f"it ended with {show_status(result.status)}")
        if result.stdout_truncated or len(result.stdout.encode("utf-8")) > self.max_output:
            raise broken("shell.hook_output_limit", f"the reply has more than {self.max_output} bytes")
        return read_reply(self.kind, result.stdout, request_id)


def plain(value: Any) -> Any:
    """A record for scripts as JSON: what may be missing is null.

    >>> plain({"a": ("None",), "b": ("Some", [1])})
    {'a': None, 'b': [1]}
    """
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, tuple):
        return plain(value[1]) if value[0] == "Some" else None
    return value


def subject_payload(
    event: str, subject: Subject, grants: Grants, redactor: Redactor, decision: Decision | None = None
) -> Json:
    """A command under review, for a hook: the names of its variables, never their values."""
    context: Json = plain(context_record(subject, grants, redactor, event, decision))
    program, *arguments = context["argv"]
    return {
        **context,
        "event": event,
        "command": {"program": program, "arguments": arguments},
        "environment_keys": sorted(subject.environment),
    }


def review_payload(subject: Subject, decision: Decision, grants: Grants, redactor: Redactor) -> Json:
    """A command that needs an approval."""
    payload = subject_payload("approval_request", subject, grants, redactor, decision)
    rationale = subject.rationale
    return {
        **payload,
        "display_command": quoted(tuple(payload["argv"])),
        "rationale": None if rationale is None else redactor.redact(rationale),
        "command_hash": identify(subject).command_hash,
    }


def result_payload(finished: Finished, redactor: Redactor) -> Json:
    """A command's result."""
    payload: Json = plain(result_record(finished, redactor))
    return {**payload, "event": "after_command"}


def audit_payload(record: Mapping[str, Any]) -> Json:
    """A record of the audit. The name of its own event stays in `audit_event`."""
    payload: Json = plain(audit_record(record))
    return {**payload, "event": "audit_event", "audit_event": payload["event"]}
