"""The resource runner: a host's own program that keeps the limits which only the system can keep (section 18.2)."""

from __future__ import annotations

import math

from chatml_shell.plans.executable import Executable
from chatml_shell.plans.grants import Bounds
from chatml_shell.plans.plan import Order


def limit_words(bounds: Bounds) -> tuple[str, ...]:
    """The limits that are set as words of a command line; a time is rounded up to seconds."""
    cpu = None if bounds.cpu_time is None else math.ceil(bounds.cpu_time)
    limits = {
        "--cpu": cpu,
        "--memory": bounds.memory,
        "--file-size": bounds.file_size,
        "--open-files": bounds.open_files,
    }
    return tuple(word for flag, limit in limits.items() if limit is not None for word in (flag, str(limit)))


def command_words(order: Order) -> tuple[str, ...]:
    """The command as a wrapper starts it: the canonical target and its arguments, behind the runner if there is one."""
    words = (order.executable.canonical, *order.command.arguments)
    if order.runner is None:
        return words
    return (order.runner.canonical, *limit_words(order.bounds), "--", *words)


def started_files(order: Order) -> tuple[Executable, ...]:
    """The files that starting a command executes: the runner, if there is one, and the target."""
    return (order.executable,) if order.runner is None else (order.runner, order.executable)
