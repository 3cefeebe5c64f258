"""Ctrl-C while something runs: it stops the script, and nothing else."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

AGAIN = 0.3
"""Seconds for which no other interrupt is raised: what one has stopped is to be left in order. Python may lose one, in
a destructor; then the next works."""


class Interrupts:
    """The context in which a script runs, or a line is read: only in here an interrupt is raised."""

    def __init__(self) -> None:
        self.running = False
        self.raised = -math.inf

    def __enter__(self) -> None:
        self.running = True
        self.raised = -math.inf

    def __exit__(self, *_: object) -> None:
        self.running = False

    @contextmanager
    def kept_off(self) -> Iterator[None]:
        """Around a dialogue: an interrupt between two inputs, or while nothing may be left half done, is lost."""
        outer = signal.signal(signal.SIGINT, self.handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, outer)

    def handle(self, number: int, frame: FrameType | None) -> None:
        now = monotonic()
        if self.running and now - self.raised > AGAIN:
            self.raised = now
            raise KeyboardInterrupt
