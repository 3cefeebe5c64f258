"""How a command ended, and what came out of it."""

from __future__ import annotations

import attrs


@attrs.frozen
class Exited:
    """A process that ended by itself."""

    code: int


@attrs.frozen
class Signaled:
    """A process that a signal ended."""

    signal: int


Status = Exited | Signaled
SUCCESS = Exited(0)
"""The only status that counts as success."""


def status_json(status: Status) -> dict[str, int]:
    """A status as results and records show it.

    >>> status_json(Exited(7)), status_json(Signaled(9))
    ({'exited': 7}, {'signaled': 9})
    """
    return {"exited": status.code} if isinstance(status, Exited) else {"signaled": status.signal}


def show_status(status: Status) -> str:
    """A status in words.

    >>> show_status(Exited(7))
    'exit status 7'
    """
    return f"exit status {status.code}" if isinstance(status, Exited) else f"signal {status.signal}"


@attrs.frozen
class Capture:
    """What was read of a channel: its first bytes, how many came in all, and whether the rest was dropped."""

    data: bytes = b""
    total: int = 0
    cut: bool = False


@attrs.frozen(kw_only=True)
class StageOutcome:
    """One process of a pipeline. Times are those of the event loop's clock, in seconds; `stdout` holds nothing for a
    process whose output went on to the next one."""

    status: Status
    stdout: Capture
    stderr: Capture
    started: float
    finished: float


@attrs.frozen
class PipelineOutcome:
    """A pipeline, a stage for each plan, in order."""

    stages: tuple[StageOutcome, ...]
