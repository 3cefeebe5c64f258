"""What scripts are told about commands, results and records: values of the language (section 8.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from chatml.values.model import Value
from chatml_shell.live.extension import Finished
from chatml_shell.output.redact import Redactor
from chatml_shell.plans.grants import Grants
from chatml_shell.plans.outcome import Exited
from chatml_shell.policy.decide import Decision
from chatml_shell.policy.subject import Subject

CONTEXT_VERSION = "shell-context-v1"
POLICY_VERSION = "shell-policy-v1"
RESULT_VERSION = "shell-result-v1"
AUDIT_VERSION = "shell-audit-v1"
PREVIEW = 256

COMMON = ("sequence", "timestamp", "session_id", "runtime_id", "manifest_sha256", "request_id", "plan_id", "event")


def option(value: Value | None) -> Value:
    """A value that may be missing, as scripts see it.

    >>> option(None), option("x")
    (('None',), ('Some', 'x'))
    """
    return ("None",) if value is None else ("Some", value)


def context_record(
    subject: Subject, grants: Grants, redactor: Redactor, phase: str, decision: Decision | None = None
) -> Value:
    """A command under review. Words are redacted, and values of variables are never passed."""
    executable, script = subject.executable, subject.script
    words = [redactor.redact(word) for word in subject.command.argv]
    preview = words[-1][:PREVIEW] if subject.kind == "raw_shell" else None
    return {
        "version": CONTEXT_VERSION,
        "phase": phase,
        "request_id": subject.request_id,
        "runtime_id": subject.runtime_id,
        "manifest_sha256": subject.manifest_sha256,
        "argv": words,
        "executable": {
            "requested": executable.requested,
            "path": executable.path,
            "canonical_path": executable.canonical,
            "trusted": executable.trusted,
            "sha256": executable.sha256,
        },
        "cwd": subject.cwd,
        "origin": subject.origin,
        "request_kind": subject.kind,
        "stdin_kind": subject.stdin.kind,
        "stdin_sha256": option(subject.stdin.sha256),
        "stdin_bytes": subject.stdin.size,
        "script_sha256": option(None if script is None else script.sha256),
        "script_preview": option(preview),
        "effects": [redactor.redact(str(effect)) for effect in subject.effects],
        "capabilities": {
            "read_roots": list(grants.read_roots),
            "write_roots": list(grants.write_roots),
            "network": grants.network,
            "child_processes": grants.child_processes,
            "arbitrary_code": grants.arbitrary_code,
            "privilege_change": grants.privilege_change,
            "sandbox": grants.sandbox,
        },
        "session_id": option(subject.session_id),
        "policy": option(None if decision is None else policy_record(decision)),
    }


def policy_record(decision: Decision) -> Value:
    """What the policy has decided."""
    return {
        "version": POLICY_VERSION,
        "action": decision.action,
        "reason": decision.reason,
        "matches": [{"rule_id": one.rule_id, "action": one.action, "reason": option(None)} for one in decision.matches],
    }


def result_record(finished: Finished, redactor: Redactor) -> Value:
    """A command's result, finalised."""
    output, status = finished.output, finished.status
    exited = isinstance(status, Exited)
    return {
        "version": RESULT_VERSION,
        "phase": "shell_after",
        "argv": [redactor.redact(word) for word in finished.subject.command.argv],
        "status_kind": "exited" if exited else "signaled",
        "status_code": status.code if isinstance(status, Exited) else status.signal,
        "stdout": output.stdout,
        "stderr": output.stderr,
        "stdout_truncated": output.stdout_truncated,
        "stderr_truncated": output.stderr_truncated,
        "intercepted_by": option(finished.intercepted_by),
        "untrusted_output": True,
    }


def audit_record(record: Mapping[str, Any]) -> Value:
    """A record of the audit before it is kept; what is not a text is shown as JSON."""
    fields = [
        {"name": name, "value": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}
        for name, value in record.items()
        if name not in COMMON
    ]
    return {
        "version": AUDIT_VERSION,
        "phase": "shell_audit",
        "sequence": str(record.get("sequence", "")),
        "timestamp": datetime.fromisoformat(record["timestamp"]).timestamp(),
        "session_id": option(record.get("session_id")),
        "runtime_id": record["runtime_id"],
        "manifest_sha256": record["manifest_sha256"],
        "request_id": record["request_id"],
        "plan_id": option(record.get("plan_id")),
        "event": record["event"],
        "fields": fields,
    }
