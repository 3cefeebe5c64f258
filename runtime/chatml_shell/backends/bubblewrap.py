"""The sandbox of Linux: bubblewrap, with namespaces of its own for everything (section 19).

Its program mounts what the command may see, gives up all capabilities and executes the command, which cannot gain any,
make another user namespace, reach a terminal, see a process outside or outlive its starter. A seccomp filter is not
used: it would have to be made for each processor, and what it is mostly for, fewer ways into the kernel, is had by
forbidding user namespaces inside the sandbox.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import Callable

import attrs

from chatmd.shell.backends import Bubblewrap
from chatmd.sources.paths import PathExpr
from chatml_shell.backends.mounts import mounts
from chatml_shell.backends.runner import command_words, started_files
from chatml_shell.errors import Refusal
from chatml_shell.plans.executable import Executable
from chatml_shell.plans.plan import Launch, Order
from chatml_shell.resolver.files import settled
from chatml_shell.resolver.resolve import pin

NAME = "linux-bubblewrap"
PLACES = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap")
INSTALL = "install it: `apt-get install bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora)"
NAMESPACES = (
    "user namespaces may be forbidden: see `sysctl kernel.apparmor_restrict_unprivileged_userns "
    "kernel.unprivileged_userns_clone user.max_user_namespaces`"
)
DEVICES = ("minimal", "none")
REPORT, FIRST_COPY = 10, 11
LARGEST_COPY = 64 * 2**20
"""A larger program is mounted by its path: between its check and its start lies a moment."""
ISOLATION = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
PROBE_SECONDS = 10


@attrs.frozen
class BubblewrapBackend:
    """Starts commands in bubblewrap. `unavailable` says why it cannot, and then there may be no `wrapper`."""

    id: str | None
    options: Bubblewrap
    wrapper: Executable | None
    unavailable: str | None = None
    name: str = NAME
    eligible: bool = True

    def launch(self, order: Order) -> Launch:
        """The words of bubblewrap. What the command is executed from is given by content where anybody but the
        administrator could change it meanwhile. Raises `Refusal` (`sandbox_unavailable`)."""
        if self.wrapper is None or self.unavailable is not None:
            raise Refusal("sandbox_unavailable", f"{self.name}: {self.unavailable}")
        files = started_files(order)
        made, copies = mounts(order, self.options), []
        for index, file in enumerate(files):
            known = file.fingerprint
            if not settled(known.mode, known.uid) and known.size <= LARGEST_COPY:
                descriptor = FIRST_COPY + index
                copies.append((descriptor, index + 1))
                made.words[file.canonical] = ("--perms", "0555", "--ro-bind-data", str(descriptor), file.canonical)
            elif not made.shows(file.canonical):
                made.bind(file.canonical)
        if not made.shows(order.cwd) and order.cwd not in made.words:
            made.words[order.cwd] = ("--dir", order.cwd)
        roots = (*order.grants.read_roots, *order.grants.write_roots)
        return Launch(
            argv=(
                self.wrapper.path,
                *_isolation(self.wrapper),
                *("--json-status-fd", str(REPORT)),
                *(("--share-net",) if order.grants.network else ()),
                *made.argv(),
                *(() if "/" in order.grants.write_roots else ("--remount-ro", "/")),
                *("--chdir", order.cwd, "--"),
                *command_words(order),
            ),
            program=self.wrapper,
            verified=(self.wrapper, *files),
            directories=tuple(root for root in roots if os.path.isdir(root)),
            copies=tuple(copies),
            report=REPORT,
            placeholders=tuple(made.placeholders),
            no_new_privileges=not self.wrapper.fingerprint.mode & stat.S_ISUID,
        )


def _isolation(wrapper: Executable) -> tuple[str, ...]:
    """The words that give a command nothing of the host. A bubblewrap with the rights of root needs user namespaces
    itself, and cannot forbid them."""
    setuid = wrapper.fingerprint.mode & stat.S_ISUID
    return ISOLATION if setuid else (*ISOLATION, "--unshare-user", "--disable-userns")


async def open_bubblewrap(declared: Bubblewrap, path: Callable[[PathExpr], str]) -> BubblewrapBackend:
    """The backend of a declaration, tried out once: a machine may have `bwrap` and forbid what it needs."""
    if declared.dev not in DEVICES:
        return BubblewrapBackend(declared.id, declared, None, f"`dev` is `minimal` or `none`, not {declared.dev!r}")
    places = PLACES if declared.executable is None else (path(declared.executable),)
    for place in places:
        with contextlib.suppress(Refusal):
            wrapper = pin(place)
            return BubblewrapBackend(declared.id, declared, wrapper, await probed(wrapper) or None)
    return BubblewrapBackend(declared.id, declared, None, f"bwrap is not at {', '.join(places)}; {INSTALL}")


async def probed(wrapper: Executable) -> str:
    """Why a sandbox cannot be made here; empty when it can."""
    words = (*_isolation(wrapper), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", "/usr/bin/true")
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
    return f"{wrapper.canonical} cannot make a sandbox here: {said or process.returncode}; {NAMESPACES}"
