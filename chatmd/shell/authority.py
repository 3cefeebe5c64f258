"""What a settled runtime may do, for people who decide about it."""

from __future__ import annotations

from typing import Any

from chatmd.shell.runtime import Runtime
from chatmd.shell.sections import Root

POWERS = ("network", "child_processes", "arbitrary_code", "privilege_change")


def authority(runtime: Runtime) -> dict[str, Any]:
    """A runtime as plain data: where it comes from, what confines it, what it may touch, who decides.

    >>> from chatmd.shell.profiles import profile
    >>> authority(profile("builtin:workspace-development", "linux"))["powers"]
    ['child_processes', 'arbitrary_code']
    """
    capabilities = runtime.capabilities
    return {
        "id": runtime.id,
        "profile": runtime.resolved_profile,
        "cwd": runtime.cwd.from_root,
        "sandbox": capabilities.sandbox,
        "powers": [power for power in POWERS if getattr(capabilities, power)],
        "read": [_place(root) for root in capabilities.read],
        "write": [_place(root) for root in capabilities.write],
        "environment": runtime.environment.inherit,
        "policy": runtime.policy.default,
        "rules": [{"id": rule.id, "action": rule.action} for rule in runtime.policy.rules],
        "approvals": runtime.approvals.provider,
    }


def show_authority(described: dict[str, Any]) -> str:
    """A runtime in one line."""
    lists = ((name, ", ".join(described[name]) or "nothing") for name in ("read", "write", "powers"))
    rules = len(described["rules"])
    parts = [
        *([described["profile"]] if described["profile"] else []),
        f"sandbox {described['sandbox']}",
        *(f"{name} {listed}" for name, listed in lists),
        f"policy {described['policy']}" + (f" with {rules} rule{'s' * (rules > 1)}" if rules else ""),
    ]
    return f"{described['id']}: {'; '.join(parts)}"


def _place(root: Root) -> str:
    return f"${root.path_env}" if root.path is None else root.path.from_root
