"""The exceptions of the toolkit, one tree.

```text
ChatmlError
├── CompileError         a script (or document) is at fault; carries its diagnostics
├── RuntimeFailure       a script failed while it ran; carries message, span and diagnostic
├── BuiltinFailure       an operation on values failed (`chatml.values.model`); a RuntimeFailure in a script
├── SurfaceError         a script meets a surface that it was not compiled with
├── BoundaryError        a host value has no counterpart in the language (also a ValueError)
├── SnapshotError        a value or a snapshot cannot be encoded, decoded or restored
└── SessionError         a session refused what it was asked
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chatml.lazy import lazy
from chatml.records import frozen
from chatml.source import Span

if TYPE_CHECKING:
    from chatml.diagnostics import model
    from chatml.diagnostics.model import Diagnostic
else:
    model = lazy("chatml.diagnostics.model")

SHOWN_CALLS = 8


@frozen
class Call:
    """A call of a script's function that was running: the function's name and the place of the call."""

    name: str
    span: Span


class ChatmlError(Exception):
    """The base of every error that this toolkit raises on purpose."""


class CompileError(ChatmlError):
    """An input that cannot be compiled. `diagnostics` holds at least one error, in order of importance."""

    def __init__(self, found: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(found)
        super().__init__(model.draw_all(self.diagnostics))


class RuntimeFailure(ChatmlError):
    """A script that failed while it ran (language.md section 5.7).

    `message` says what happened, `span` where (None when a host applied a builtin directly), `code` is the code of
    the `diagnostic`. `trace` holds the calls that were running, innermost first; `origin` is the place inside a
    callback when `span` is the call of the builtin that ran it. `limit` names the limit that was exceeded, or is None.
    """

    def __init__(
        self,
        message: str,
        span: Span | None = None,
        *,
        code: str = "runtime.failure",
        help: str | None = None,
    ) -> None:
        self.message = message
        self.span = span
        self.code = code
        self.help = help
        self.origin: Span | None = None
        self.limit: str | None = None
        self.trace: list[Call] = []
        super().__init__(message)

    @property
    def diagnostic(self) -> Diagnostic:
        """The failure as a diagnostic, with the calls that led to it as notes."""
        notes = (show_trace(self.trace),) if self.trace else ()
        labels = (model.Label(self.origin, "it failed here"),) if self.origin is not None else ()
        return model.Diagnostic(self.code, self.message, self.span, labels=labels, notes=notes, help=self.help)

    def at(self, span: Span | None) -> None:
        """Move the failure to the builtin call that ran the function which failed (L-164)."""
        if self.origin is None:
            self.origin = self.span
        self.span = span


def show_trace(calls: Sequence[Call]) -> str:
    """The running calls as text, innermost first; a long trace keeps its two ends."""
    half = SHOWN_CALLS // 2
    shown = list(calls) if len(calls) <= SHOWN_CALLS else [*calls[:half], None, *calls[-half:]]
    lines = ["calls that were running, innermost first"]
    for call in shown:
        if call is None:
            lines.append(f"... {len(calls) - SHOWN_CALLS} more ...")
        else:
            lines.append(f"{call.name} called at {call.span.source.name}:{call.span.start.place}")
    return "\n".join(lines)


class BoundaryError(ChatmlError, ValueError):
    """A host value that the language cannot hold: a lone surrogate, an integer beyond 63 bits, an unknown type."""


class SurfaceError(ChatmlError):
    """A script that is to run on a surface with other names than the one it was compiled with."""


class SnapshotError(ChatmlError):
    """A value that cannot become a snapshot, or a snapshot that cannot be read or does not fit."""


class SessionError(ChatmlError):
    """A session that cannot do what it was asked in the state that it is in."""
