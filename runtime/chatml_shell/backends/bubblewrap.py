"""The sandbox of Linux: a command in namespaces of its own, where only what was granted is mounted (section 19).

Everything is unshared: processes, network, users, hosts, message queues. The root is empty; the system's directories
are mounted read-only, the roots of the runtime as they were granted, and the target by the very content that was
hashed. The order of mounts matters, a later one covers an earlier one: a root `/` or else the system, then `/dev`,
`/proc` and a private `/tmp`, then the other roots, the shorter ones first, and last what stays read-only inside of
writable roots.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator

import attrs

from chatmd.shell.backends import Bubblewrap
from chatmd.sources.paths import PathExpr
from chatml_shell.backends.protected import Kept, protected
from chatml_shell.backends.runner import command_words, started_files
from chatml_shell.errors import Refusal
from chatml_shell.plans.executable import Executable
from chatml_shell.plans.grants import Grants
from chatml_shell.plans.plan import Launch, Order
from chatml_shell.resolver.files import settled, within
from chatml_shell.resolver.resolve import pin

NAME = "linux-bubblewrap"
PLACES = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc")
RESOLVER_FILES = "/run/systemd/resolve"
INSTALL = "install it: `apt install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`"
REPORT = 3
FIRST_COPY = 4
PROBE_SECONDS = 10
ISOLATION = ("--die-with-parent", "--new-session", "--unshare-all", "--cap-drop", "ALL")


@attrs.frozen(kw_only=True)
class BubblewrapBackend:
    """Commands in a sandbox of `bwrap`, pinned; None where there is none, and `unavailable` says why."""

    id: str | None
    wrapper: Executable | None
    unavailable: str | None
    private_tmp: bool = True
    proc: bool = True
    dev: str = "minimal"
    home: str | None = None
    name: str = NAME
    eligible: bool = True

    def launch(self, order: Order) -> Launch:
        """The sandbox of an order. Raises `Refusal` (`sandbox_unavailable`)."""
        if self.wrapper is None or self.unavailable is not None:
            raise Refusal("sandbox_unavailable", f"{self.name}: {self.unavailable}")
        verified = (self.wrapper, *started_files(order))
        copied = [
            (index, file)
            for index, file in enumerate(verified)
            if index and not settled(file.fingerprint.mode, file.fingerprint.uid)
        ]
        kept = protected(order.grants.write_roots, self.home)
        words = [
            *ISOLATION,
            "--json-status-fd",
            str(REPORT),
            *self._mounts(order.grants),
            *_read_only(kept),
            *(
                word
                for number, (_, file) in enumerate(copied, start=FIRST_COPY)
                for word in ("--perms", "0555", "--ro-bind-data", str(number), file.canonical)
            ),
            "--chdir",
            order.cwd,
            "--",
        ]
        return Launch(
            argv=(self.wrapper.path, *words, *command_words(order)),
            program=self.wrapper,
            verified=verified,
            directories=tuple(dict.fromkeys((order.cwd, *_existing(order.grants)))),
            copies=tuple((number, index) for number, (index, _) in enumerate(copied, start=FIRST_COPY)),
            report=REPORT,
            placeholders=tuple(one.path for one in kept if one.is_missing),
            no_new_privileges=not self.wrapper.fingerprint.mode & stat.S_ISUID,
        )

    def _mounts(self, grants: Grants) -> Iterator[str]:
        if grants.network:
            yield "--share-net"
        roots = _roots(grants)
        whole = [(root, option) for root, option in roots if root == "/"]
        yield from _bound(whole) if whole else _system()
        if grants.network and os.path.isdir(RESOLVER_FILES):
            yield from ("--ro-bind", RESOLVER_FILES, RESOLVER_FILES)
        if self.dev != "none":
            yield from ("--dev", "/dev")
        if self.proc:
            yield from ("--proc", "/proc")
        if self.private_tmp:
            yield from ("--tmpfs", "/tmp")
        yield from _bound((root, option) for root, option in roots if root != "/")


def _roots(grants: Grants) -> list[tuple[str, str]]:
    """The roots with how they are mounted, shorter ones first. What is below a writable root is writable."""
    read = [root for root in grants.read_roots if not within(root, grants.write_roots)]
    roots = [*((root, "--ro-bind") for root in read), *((root, "--bind") for root in grants.write_roots)]
    return sorted(roots, key=lambda one: (one[0].count("/"), one[0]))


def _bound(roots: Iterable[tuple[str, str]]) -> Iterator[str]:
    for root, option in roots:
        if os.path.exists(root):
            yield from (option, root, root)


def _existing(grants: Grants) -> list[str]:
    """The roots that are directories: they must be where they were when the sandbox starts."""
    return [root for root in (*grants.read_roots, *grants.write_roots) if os.path.isdir(root)]


def _system() -> Iterator[str]:
    """The system's directories read-only; where one is a link, as `/bin` is to `usr/bin`, the link."""
    for place in SYSTEM:
        if os.path.islink(place):
            yield from ("--symlink", os.readlink(place), place)
        elif os.path.isdir(place):
            yield from ("--ro-bind", place, place)


def _read_only(kept: Iterable[Kept]) -> Iterator[str]:
    for one in kept:
        yield from ("--ro-bind", one.path, one.path)


async def open_bubblewrap(declared: Bubblewrap, path: Callable[[PathExpr], str]) -> BubblewrapBackend:
    """The backend of a declaration, tried out once: a machine may have `bwrap` and forbid what it needs."""
    places = PLACES if declared.executable is None else (path(declared.executable),)
    wrapper, why = None, f"there is no bwrap at {', '.join(places)}; {INSTALL}"
    for place in places:
        with contextlib.suppress(Refusal):
            wrapper = pin(place)
            break
    if wrapper is not None:
        why = await probed(wrapper)
    return BubblewrapBackend(
        id=declared.id,
        wrapper=wrapper,
        unavailable=why or None,
        private_tmp=declared.private_tmp,
        proc=declared.proc,
        dev=declared.dev,
        home=os.path.realpath(os.path.expanduser("~")),
    )


async def probed(wrapper: Executable) -> str:
    """Why a sandbox cannot be made here; empty when it can."""
    words = (*ISOLATION, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", "/usr/bin/true")
    null = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            wrapper.canonical, *words, stdin=null, stdout=null, stderr=asyncio.subprocess.PIPE, env={}, cwd="/"
        )
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                _, complaint = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            return f"{wrapper.canonical} did not answer within {PROBE_SECONDS} s"
    except OSError as error:
        return f"{wrapper.canonical} cannot be started: {os.strerror(error.errno or 0)}"
    if process.returncode == 0:
        return ""
    said = complaint.decode("utf-8", "replace").strip().partition("\n")[0]
    return (
        f"{wrapper.canonical} cannot make a sandbox here: {said or process.returncode}; user namespaces must be allowed"
    )
