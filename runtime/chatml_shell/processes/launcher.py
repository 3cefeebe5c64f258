"""The host's end of the fork server: one server for a registry, one control socket for each command."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import attrs

from chatml_shell.errors import Refusal
from chatml_shell.plans.grants import Bounds
from chatml_shell.plans.outcome import Exited, Signaled, Status
from chatml_shell.plans.plan import Plan

SUPERVISOR = Path(__file__).with_name("supervisor.py")
MOST_PROCESSES = 1024
"""Processes that one command may have at a time, all its descendants together."""
GRACE = 0.1
"""Seconds between the signal to stop and the one that kills; also for what a command leaves running when it ends."""
CLOSING = 5.0
MOST_READ = 1 << 16


@attrs.frozen
class Ending:
    """How a command ended: its status, which bound of the whole family it exceeded, who could not be killed, and what
    its wrapper reported."""

    status: Status
    excess: str | None
    survivors: tuple[int, ...]
    report: str


@attrs.define
class Supervised:
    """A command in the hands of its supervisor."""

    _control: socket.socket
    _unread: bytes = b""

    async def pid(self) -> int:
        """The process id, once the command runs. Raises `Refusal`: `executable_changed` or `spawn_error`."""
        answer = await self._answer()
        if "changed" in answer:
            raise Refusal("executable_changed", answer["changed"])
        if "failed" in answer:
            raise Refusal("spawn_error", f"the command could not be started: {answer['failed']}")
        pid: int = answer["pid"]
        return pid

    async def ending(self) -> Ending:
        """How it ended, once all its descendants are gone."""
        while "status" not in (answer := await self._answer()):
            pass  # a command that was stopped before anybody had asked for its process id
        code = os.waitstatus_to_exitcode(answer["status"]) if answer["status"] is not None else -9
        status = Signaled(-code) if code < 0 else Exited(code)
        return Ending(status, answer["excess"], tuple(answer["survivors"]), answer["report"])

    def stop(self) -> None:
        """Ask for the end of the command and of all its descendants; `ending` tells when it has come."""
        with contextlib.suppress(OSError):  # the supervisor has said everything and is gone
            self._control.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Let go. A command that still runs is ended without anybody being told."""
        self._control.close()

    async def _answer(self) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        while b"\n" not in self._unread:
            try:
                piece = await loop.sock_recv(self._control, MOST_READ)
            except ConnectionError:
                piece = b""
            if not piece:
                raise Refusal("spawn_error", "the supervisor of the command has died, and the command with it")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


@attrs.define
class Launcher:
    """Starts commands. The fork server behind it lives from the beginning of the `async with` to its end.

    ```python
    async with Launcher() as launcher:
        outcome = await run_pipeline(launcher, plans, b"", watch, deadline=None)
    ```
    """

    _server: subprocess.Popen[bytes] | None = attrs.field(default=None, init=False)
    _socket: socket.socket | None = attrs.field(default=None, init=False)

    async def __aenter__(self) -> Self:
        self._start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the fork server. Commands that still run are not touched: who started them ends them."""
        server, self._server = self._server, None
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if server is not None:
            try:
                server.wait(CLOSING)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()

    async def start(self, plan: Plan, standard: tuple[int, int, int]) -> Supervised:
        """Hand a plan and its standard streams to a supervisor. The descriptors stay the caller's to close."""
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise Refusal("spawn_error", f"no socket for the command: {error}") from error
        try:
            ours.setblocking(False)
            with theirs:
                self._send([theirs.fileno(), *standard])
            message = _order(plan)
            await asyncio.get_running_loop().sock_sendall(ours, struct.pack("!Q", len(message)) + message)
        except ConnectionError as error:
            ours.close()
            raise Refusal("spawn_error", "the supervisor of the command has died") from error
        except BaseException:
            ours.close()
            raise
        return Supervised(ours)

    def _send(self, descriptors: list[int]) -> None:
        """Give descriptors to the server. One that has died is replaced once."""
        for attempt in range(2):
            if self._socket is None or self._server is None or self._server.poll() is not None:
                self._start_server()
            assert self._socket is not None
            try:
                socket.send_fds(self._socket, [b"\n"], descriptors)
                return
            except OSError as error:
                self._socket.close()
                self._socket = None
                if attempt:
                    raise Refusal("spawn_error", f"the fork server does not answer: {error}") from error

    def _start_server(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._server is not None:
            self._server.wait(CLOSING)
        self._socket, theirs = socket.socketpair()
        with theirs:
            try:
                self._server = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(SUPERVISOR), str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    env={},
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                raise Refusal("spawn_error", f"the fork server cannot be started: {error}") from error


def _order(plan: Plan) -> bytes:
    """A plan as the supervisor reads it."""
    launch, order = plan.launch, plan.order
    return json.dumps(
        {
            "argv": launch.argv,
            "environment": dict(order.environment),
            "cwd": order.cwd,
            "files": [{"path": file.canonical, **attrs.asdict(file.fingerprint)} for file in launch.verified],
            "program": launch.verified.index(launch.program),
            "directories": launch.directories,
            "copies": launch.copies,
            "report": launch.report,
            "limits": rlimits(order.bounds) if order.runner is None else {"core": 0},
            "processes": MOST_PROCESSES,
            "memory": order.bounds.memory,
            "no_new_privileges": launch.no_new_privileges,
            "grace": GRACE,
        }
    ).encode()


def rlimits(bounds: Bounds) -> dict[str, int]:
    """The limits that the system keeps for each process; processor time is rounded up to whole seconds."""
    limits = {
        "cpu": None if bounds.cpu_time is None else -int(-bounds.cpu_time // 1),
        "memory": bounds.memory,
        "file_size": bounds.file_size,
        "open_files": bounds.open_files,
    }
    return {"core": 0, **{name: limit for name, limit in limits.items() if limit is not None}}
