"""The program that starts commands: a server that forks, and one supervisor for each command.

The host runs it once, as `python -I -S supervisor.py DESCRIPTOR`; it imports nothing of the toolkit. The descriptor is
a socket. Each message on it is a single byte with four descriptors: a control socket, and the standard input, output
and error of a command. The server forks a *supervisor*, which reads from the control socket what to start, and then:

    verify   every file is opened and compared with its fingerprint; directories must be where they were
    start    fork, give up what a command must not have, execute the descriptor whose content was just verified
    watch    until the command ends, the host closes the control socket, or too much is used up
    end      whatever still descends from the command is told to stop, and killed when it does not

Why not from the host itself: a host has threads, in which a fork may deadlock; its memory would be copied; and only a
process of its own can adopt what a command leaves behind (`PR_SET_CHILD_SUBREAPER`), so that a grandchild that has left
its group, its session and its parent is still found. A host that is killed closes its sockets; that ends every command.

The answers on the control socket are lines of JSON: `changed` or `failed`, or else `pid` and later `status`.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import hashlib
import json
import os
import resource
import select
import signal
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
SERVER_MESSAGE = 1
COMMAND_DESCRIPTORS = 4
HIGH = 200
"""Where the supervisor keeps its own descriptors: above those that a launch may ask for."""
PIECE = 1 << 20
MOST_REPORTED = 1 << 16
SHORTEST_TICK, LONGEST_TICK = 0.05, 0.5
LAST_EFFORT = 10.0
"""Seconds for which processes are killed before those that cannot be are given up and reported."""
RLIMITS = {
    "cpu": resource.RLIMIT_CPU,
    "memory": resource.RLIMIT_AS,
    "file_size": resource.RLIMIT_FSIZE,
    "open_files": resource.RLIMIT_NOFILE,
    "core": resource.RLIMIT_CORE,
}
STATUS_FIELDS = {
    "device": "st_dev",
    "inode": "st_ino",
    "mode": "st_mode",
    "uid": "st_uid",
    "gid": "st_gid",
    "size": "st_size",
    "mtime_ns": "st_mtime_ns",
}

libc = ctypes.CDLL(None, use_errno=True)


class Changed(Exception):
    """Something is not what it was when the command was reviewed."""


def prctl(option: int, value: int) -> None:
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# --- verify


def open_verified(expected: dict[str, Any]) -> int:
    """A descriptor of the file whose fingerprint is `expected`; what was hashed is what the descriptor reads."""
    path = expected["path"]
    try:
        descriptor = os.open(encoded(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Changed(f"{path} cannot be opened: {error.strerror}") from error
    status = os.fstat(descriptor)
    for name, field in STATUS_FIELDS.items():
        if getattr(status, field) != expected[name]:
            raise Changed(f"{path} is not the file that was reviewed: its {name} differs")
    # Nobody but root can write a file of root's without write permission for others, so its status is enough.
    settled = status.st_uid == 0 and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and os.geteuid() != 0
    if not settled and digest(descriptor) != expected["sha256"]:
        raise Changed(f"{path} is not the file that was reviewed: its content differs")
    return descriptor


def digest(descriptor: int) -> str:
    known = hashlib.sha256()
    while piece := os.read(descriptor, PIECE):
        known.update(piece)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return known.hexdigest()


def content_copy(descriptor: int, sha256: str) -> int:
    """A file in memory with the content of a verified one. The copy itself is hashed, so nothing can come between."""
    copy = os.memfd_create("program", os.MFD_CLOEXEC)
    while piece := os.read(descriptor, PIECE):
        while piece:
            piece = piece[os.write(copy, piece) :]
    os.lseek(copy, 0, os.SEEK_SET)
    if digest(copy) != sha256:
        raise Changed("a file changed while it was copied")
    return copy


def check_directory(path: str) -> None:
    """A directory that was canonical must still be: a part of it that has become a link leads elsewhere."""
    if os.path.realpath(path) != path or not os.path.isdir(path):
        raise Changed(f"the directory {path} has moved, or a part of it has become a link")


# --- start


class Start:
    """A command on its way. All is prepared before the fork: the child only has to let go and execute."""

    def __init__(self, order: dict[str, Any], standard: list[int]) -> None:
        self.order, self.standard, self.parent = order, standard, os.getpid()
        files = [open_verified(expected) for expected in order["files"]]
        for directory in order["directories"]:
            check_directory(directory)
        os.chdir(encoded(order["cwd"]))
        self.given = {
            number: content_copy(files[index], order["files"][index]["sha256"]) for number, index in order["copies"]
        }
        self.report, write_end = os.pipe()
        if order["report"] is not None:
            self.given[order["report"]] = write_end
        self.program: int | bytes = files[order["program"]]
        if os.pread(self.program, 2, 0) == b"#!":
            # The interpreter of a script opens the script by its name, so a descriptor would be of no use to it.
            self.program = encoded(order["files"][order["program"]]["path"])
        self.argv = [encoded(word) for word in order["argv"]]
        self.environment = {encoded(name): encoded(value) for name, value in order["environment"].items()}

    def execute(self) -> NoReturn:
        """In the child: become the command."""
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self.parent:
            os._exit(127)  # the supervisor died before it could be noticed
        signal.set_wakeup_fd(-1)
        for number in range(1, signal.NSIG):
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if self.order["no_new_privileges"]:
            prctl(PR_SET_NO_NEW_PRIVS, 1)
        os.umask(os.umask(0) | stat.S_IWGRP | stat.S_IWOTH)
        self.keep_only_what_is_given()
        for name, bound in self.order["limits"].items():
            lower_limit(RLIMITS[name], bound)
        os.execve(self.program, self.argv, self.environment)

    def keep_only_what_is_given(self) -> None:
        given = dict(enumerate(self.standard)) | self.given
        high = {number: move_up(descriptor) for number, descriptor in given.items()}
        if isinstance(self.program, int):
            self.program = move_up(self.program)
        for number, descriptor in high.items():
            os.dup2(descriptor, number, inheritable=True)
        # Everything that is not given is closed on execution, and most of it now.
        kept = sorted(given)
        for below, above in zip(kept, [*kept[1:], HIGH], strict=True):
            os.closerange(below + 1, above)


def move_up(descriptor: int) -> int:
    """A copy of a descriptor out of the way of the given ones; it is closed on execution."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH)


def lower_limit(kind: int, bound: int) -> None:
    """Limit a resource for good. A processor time limit warns one second before it kills."""
    hard = bound + 1 if kind == resource.RLIMIT_CPU else bound
    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        hard = min(hard, ceiling)
    resource.setrlimit(kind, (min(bound, hard), hard))


def start(prepared: Start) -> int:
    """Fork and execute; the process id. Raises OSError when the command could not be executed."""
    failed, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            tell = move_up(tell)
            prepared.execute()
        except BaseException as error:
            number = error.errno if isinstance(error, OSError) and error.errno else 0
            os.write(tell, json.dumps([number, f"{error.__class__.__name__}: {error}"]).encode())
        finally:
            os._exit(127)
    os.close(tell)
    trouble = b""
    while piece := os.read(failed, PIECE):
        trouble += piece
    os.close(failed)
    if trouble:
        os.waitpid(pid, 0)
        number, text = json.loads(trouble)
        raise OSError(number, os.strerror(number) if number else text)
    return pid


# --- watch


class Family:
    """A command and all that descends from it. Nothing else is a descendant of its supervisor."""

    def __init__(self, main: int) -> None:
        self.main = main
        self.status: int | None = None

    def reap(self) -> bool:
        """Take the status of every process that has ended; False when nobody is left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return True
                if pid == self.main:
                    self.status = status
        except ChildProcessError:
            return False

    def members(self) -> list[int]:
        """The ids of all living descendants, parents before children."""
        children: dict[int, list[int]] = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                    # "PID (NAME) STATE PARENT …"; a name may hold anything, blanks and parentheses too
                    children.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(name))
        found = list(children.get(os.getpid(), ()))
        for pid in found:
            found.extend(children.get(pid, ()))
        return found

    def signal(self, number: int) -> None:
        for pid in self.members():
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def excess(self, processes: int, memory: int | None) -> str | None:
        """Which bound the whole family exceeds, if any."""
        members = self.members()
        if len(members) > processes:
            return f"more than {processes} processes at a time"
        if memory is not None and sum(map(resident, members)) > memory and sum(map(proportional, members)) > memory:
            return f"more than {memory} bytes of memory in all processes together"
        return None

    def kill(self, wait: Callable[[float], object]) -> list[int]:
        """Kill whatever is left, again and again: a process may have made another meanwhile. Who could not be killed.

        A command that was allowed to become another user may have left processes that its own user cannot kill.
        """
        until = time.monotonic() + LAST_EFFORT
        pause = 0.001
        while self.reap():
            if time.monotonic() > until:
                return self.members()
            self.signal(signal.SIGKILL)
            wait(pause)
            pause = min(2 * pause, 0.05)
        return []


def resident(pid: int) -> int:
    """The memory of a process, shared parts included: quick, and never too little."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
    return 0


def proportional(pid: int) -> int:
    """The memory of a process, of shared parts only its share: what a family uses adds up."""
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss:"))
    return resident(pid)


class Supervision:
    """The life of one command, from the first wait to the last process."""

    def __init__(self, family: Family, control: socket.socket, wake: int, order: dict[str, Any]) -> None:
        self.family, self.control, self.wake, self.order = family, control, wake, order
        self.poll = select.poll()
        self.poll.register(wake, select.POLLIN)
        self.poll.register(control, select.POLLIN | select.POLLHUP)

    def wait(self, seconds: float) -> bool:
        """Sleep until a process ends, the host closes the control socket (then True) or the time is over."""
        ready = [descriptor for descriptor, _ in self.poll.poll(seconds * 1000)]
        if self.wake in ready:
            os.read(self.wake, PIECE)
        if self.control.fileno() not in ready:
            return False
        self.poll.unregister(self.control)  # it says nothing more, and would never let us sleep again
        return True

    def run(self) -> dict[str, Any]:
        """Watch the command to its end; what is to be said about it."""
        excess, told, tick = None, False, SHORTEST_TICK
        check = time.monotonic() + tick
        while (some_left := self.family.reap()) and self.family.status is None and not told and excess is None:
            told = self.wait(max(check - time.monotonic(), 0))
            if time.monotonic() >= check:
                excess = self.family.excess(self.order["processes"], self.order["memory"])
                tick = min(2 * tick, LONGEST_TICK)
                check = time.monotonic() + tick
        if told:
            self.family.signal(signal.SIGTERM)
            self.family.signal(signal.SIGCONT)
        if some_left and excess is None:
            some_left = self.outlast(self.order["grace"])
        survivors = self.family.kill(self.wait) if some_left else []
        return {"status": self.family.status, "excess": excess, "survivors": survivors}

    def outlast(self, seconds: float) -> bool:
        """Give all processes some time to end by themselves; whether some have not."""
        until = time.monotonic() + seconds
        while (left := self.family.reap()) and (rest := until - time.monotonic()) > 0:
            self.wait(rest)
        return left


# --- the server and its supervisors


def say(control: socket.socket, **answer: Any) -> None:
    with contextlib.suppress(OSError):  # the host is gone: nobody is left to be told
        control.sendall(json.dumps(answer).encode() + b"\n")


def receive_order(control: socket.socket) -> dict[str, Any]:
    def exactly(count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = control.recv(min(count - len(data), PIECE))
            if not piece:
                os._exit(0)  # the host has thought better of it
            data += piece
        return bytes(data)

    (size,) = struct.unpack("!Q", exactly(8))
    order: dict[str, Any] = json.loads(exactly(size))
    return order


def supervise(control: socket.socket, standard: list[int]) -> None:
    """Start one command and stay with it."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    order = receive_order(control)
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        prepared = Start(order, standard)
        pid = start(prepared)
    except Changed as error:
        say(control, changed=str(error))
        return
    except (OSError, ValueError) as error:
        say(control, failed=(error.strerror if isinstance(error, OSError) else None) or str(error))
        return
    for descriptor in (*standard, *prepared.given.values()):
        os.close(descriptor)
    say(control, pid=pid)
    family = Family(pid)
    try:
        ended = Supervision(family, control, woken, order).run()
    except BaseException:
        family.kill(time.sleep)
        raise
    os.set_blocking(prepared.report, False)
    try:
        report = os.read(prepared.report, MOST_REPORTED).decode("utf-8", "replace")
    except BlockingIOError:
        report = ""
    say(control, **ended, report=report)


def serve(server: socket.socket) -> None:
    """Fork a supervisor for each message, until the host closes the socket. Supervisors that end need no wait."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(
            server, SERVER_MESSAGE, COMMAND_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not message:
            return
        if os.fork() == 0:
            server.close()
            try:
                supervise(socket.socket(fileno=descriptors[0]), descriptors[1:])
            finally:
                os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
