"""The exceptions of the shell runtime. They join the one tree of `chatml.diagnostics.errors`.

```text
ChatmlError
├── CompileError
│   └── ChatmdError
│       └── ShellError       a declaration, or the machine that it meets, is at fault: nothing is published
├── Refusal                  one request that ends without a result; `code` is one of shell.md section 12.6
└── StorageError             a file of the audit or of the approvals is at fault; `code` is one of section 23
```
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args

from chatmd.report.problems import ChatmdError
from chatml.diagnostics.errors import ChatmlError

RefusalCode = Literal[
    "permission_required",
    "denied",
    "resolution_error",
    "capability_violation",
    "sandbox_unavailable",
    "interceptor_rejected",
    "spawn_error",
    "executable_changed",
    "script_changed",
    "audit_unavailable",
    "timed_out",
    "idle_timed_out",
    "stdin_limit_exceeded",
    "output_limit_exceeded",
]
REFUSALS: tuple[str, ...] = get_args(RefusalCode)
"""The codes of a request that ends without a result (section 12.6)."""


class ShellError(ChatmdError):
    """A document's shell declarations cannot be used; `diagnostics` says why, sorted by code, path and message."""


class Refusal(ChatmlError):
    """A request that ends without a result. `reason` is a sentence without secrets, `facts` are what it is made of.

    >>> str(Refusal("denied", "rule `no-push` denies it"))
    '[denied] rule `no-push` denies it'
    """

    def __init__(self, code: RefusalCode, reason: str, facts: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.code = code
        self.reason = reason
        self.facts = facts
        super().__init__(f"[{code}] {reason}")


class NoAnswerError(Exception):
    """An extension that gave no answer: a script, a program, a model. Its message holds no secret; what it counts as is
    said by the extension's declaration."""


class StorageError(ChatmlError):
    """A file of the audit or of the approvals cannot be read, written or trusted; `code` is stable and dotted."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"[{code}] {message}")
