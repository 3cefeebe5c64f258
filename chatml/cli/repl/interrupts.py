"""Ctrl-C while something runs: it stops the script, and nothing else."""

from __future__ import annotations

import signal
from types import FrameType


class Interrupts:
    """The context in which a script runs: only in here an interrupt is raised.

    Around it, `answering` keeps interrupts off whatever must not be left half done.
    """

    def __init__(self) -> None:
        self.answering = Answering(self)
        self.running = False

    def __enter__(self) -> None:
        self.running = True

    def __exit__(self, *_: object) -> None:
        self.running = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self.running:
            self.running = False
            raise KeyboardInterrupt


class Answering:
    """The context in which an input is answered."""

    def __init__(self, interrupts: Interrupts) -> None:
        self.interrupts = interrupts

    def __enter__(self) -> None:
        self.outer = signal.signal(signal.SIGINT, self.interrupts.handle)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self.outer)
