"""A trace as data: what ran, as a tree of entries in the order in which they began."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from chatml.records import frozen
from chatml.source import Span

Kind: TypeAlias = Literal[
    "call", "arm", "if", "bind", "operation", "catch", "commit", "rollback", "suspend", "resume", "failure"
]
Outcome: TypeAlias = Literal["returned", "failed", "continued", "running"]
"""How an entry ended. `continued`: the function was called again as the last thing that it did, and the entry after
this one is that call. `running`: it had not ended when the trace was taken."""


@frozen
class Bounds:
    """How much of what ran a trace keeps; what goes beyond is counted.

    `entries` in all, `depth` of entries inside each other, `first` and `last` of those beside each other, and `length`
    in characters of the text of a value. A call that fails is kept wherever it is.
    """

    entries: int = 500
    depth: int = 16
    first: int = 16
    last: int = 4
    length: int = 120


@frozen
class Failure:
    """Why something failed, and where; `span` is None if that is not a place of the script."""

    message: str
    span: Span | None


@frozen
class LeftOut:
    """So many entries that ran here, and that the trace did not keep."""

    entries: int

    def to_json(self) -> dict[str, Any]:
        return {"left_out": self.entries}


@frozen
class Entry:
    """One thing that ran. Values are shown as text; what `name`, `args` and `result` are depends on the kind.

    | kind | `name` | `args` | `result` |
    | --- | --- | --- | --- |
    | `call` | the function; `fun` if it has no name | its arguments | its value |
    | `arm` | the pattern of the arm that was taken | | |
    | `if` | the condition | | `true` or `false` |
    | `bind` | a `let*` or `let+` up to its `=` | the value that it binds | |
    | `operation` | what the host was asked for | its arguments | what it gave |
    | `catch` | | the message that was caught | what was dropped |
    | `commit` `rollback` `suspend` `resume` | | | what was committed or dropped, the answer |
    | `failure` | | | |

    `span` is the place of the call, the pattern, or the condition. `failure` says why a call or an operation failed,
    and why a run was rolled back; an entry of the kind `failure` stands where a script failed outside of any call.
    """

    kind: Kind
    name: str = ""
    args: tuple[str, ...] = ()
    span: Span | None = None
    outcome: Outcome = "returned"
    result: str | None = None
    failure: Failure | None = None
    inner: tuple[Entry | LeftOut, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The entry as `chatml run --trace --json` prints it; lines and columns count from 1."""
        failure = self.failure
        return {
            "kind": self.kind,
            "name": self.name,
            "args": list(self.args),
            "at": place(self.span),
            "outcome": self.outcome,
            "result": self.result,
            "failure": None if failure is None else {"message": failure.message, "at": place(failure.span)},
            "inner": [entry.to_json() for entry in self.inner],
        }


@frozen
class Trace:
    """What ran between two moments, in order."""

    entries: tuple[Entry | LeftOut, ...]

    def to_json(self) -> list[dict[str, Any]]:
        """The entries as plain data."""
        return [entry.to_json() for entry in self.entries]


def place(span: Span | None) -> dict[str, int] | None:
    """Where a span starts, in lines and columns from 1."""
    if span is None:
        return None
    start = span.start
    return {"line": start.line, "column": start.column + 1}
