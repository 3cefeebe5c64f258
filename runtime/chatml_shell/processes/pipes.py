"""Pipes between the host and a command: what is kept of their content, and waiting for them without a thread."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import attrs

from chatml_shell.plans.outcome import Capture

PIECE = 1 << 16


@attrs.define
class Kept:
    """The first bytes of a channel, `room` of them at most, and how many came."""

    room: int
    data: bytearray = attrs.field(factory=bytearray)
    total: int = 0

    def add(self, piece: bytes) -> None:
        self.total += len(piece)
        self.data += piece[: max(self.room - len(self.data), 0)]

    def capture(self) -> Capture:
        return Capture(bytes(self.data), self.total, self.total > len(self.data))


async def read(descriptor: int) -> bytes:
    """The next bytes of a pipe that does not block; empty at its end."""
    while True:
        try:
            return os.read(descriptor, PIECE)
        except BlockingIOError:
            loop = asyncio.get_running_loop()
            await _ready(descriptor, loop.add_reader, loop.remove_reader)


async def write(descriptor: int, data: bytes) -> None:
    """Write everything to a pipe that does not block. A reader that has gone away is not a fault."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            loop = asyncio.get_running_loop()
            await _ready(descriptor, loop.add_writer, loop.remove_writer)
        except BrokenPipeError:
            return


async def _ready(descriptor: int, add: Callable[..., object], remove: Callable[[int], object]) -> None:
    ready = asyncio.Event()
    add(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        remove(descriptor)
