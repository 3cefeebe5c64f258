"""The sandbox of Linux really confines, tried as an ordinary user: every attempt fails, unless it was granted.

Where `bwrap` is missing these tests are skipped; with `CHATML_NEEDS_BWRAP=1` they fail instead.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chatmd.shell.backends import Backends, Bubblewrap
from chatmd.sources.paths import parse_path
from chatml_shell.backends.bubblewrap import open_bubblewrap
from chatml_shell.backends.choose import choose
from chatml_shell.backends.opening import open_backends
from chatml_shell.errors import Refusal
from chatml_shell.plans.grants import Grants
from chatml_shell.plans.outcome import Exited, StageOutcome
from chatml_shell.plans.plan import Plan
from chatml_shell.processes.launcher import Launcher
from chatml_shell.processes.pipeline import run_pipeline
from tests.shell.machine import Notes, order, running

NOBODY = 65534
PYTHON = "/usr/bin/python3"
here = pytest.mark.skipif(
    shutil.which("bwrap") is None and not os.environ.get("CHATML_NEEDS_BWRAP"),
    reason="bubblewrap is not installed: apt-get install bubblewrap",
)
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def as_user(work: Callable[[], Any]) -> Any:
    """The result of a function that runs in a process of an ordinary user."""
    heard, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                os.environ["HOME"] = "/nonexistent"
            if not os.access(sys.executable, os.X_OK):
                sys.executable = PYTHON
            answer: Any = (True, work())
        except BaseException:
            answer = (False, traceback.format_exc())
        with os.fdopen(tell, "wb") as file:
            pickle.dump(answer, file)
        os._exit(0)
    os.close(tell)
    with os.fdopen(heard, "rb") as file:
        sound, answer = pickle.load(file)
    os.waitpid(pid, 0)
    assert sound, answer
    return answer


def grants(read: tuple[Path | str, ...] = (), write: tuple[Path | str, ...] = (), network: bool = False) -> Grants:
    return Grants(
        read_roots=tuple(map(str, read)),
        write_roots=tuple(map(str, write)),
        network=network,
        child_processes=True,
        arbitrary_code=True,
        privilege_change=False,
        sandbox="required",
    )


def sandboxed(
    *argv: str,
    granted: Grants | None = None,
    cwd: Path | str = "/",
    before: Callable[[], object] | None = None,
    **more: Any,
) -> StageOutcome:
    """A command in the sandbox, run for an ordinary user; `before` happens between its review and its start."""
    options = more.pop("options", Bubblewrap())

    async def run() -> StageOutcome:
        async with Launcher() as launcher:
            backend = await open_bubblewrap(options, str)
            assert backend.unavailable is None, backend.unavailable
            wanted = order(*argv, cwd=cwd, grants=granted or grants(), **more)
            plan = Plan(plan_id="p", request_id="r", order=wanted, launch=backend.launch(wanted), backend=backend.name)
            if before is not None:
                before()
            outcome = await run_pipeline(launcher, [plan], b"", Notes(), deadline=None)
            return outcome.stages[0]

    stage: StageOutcome = as_user(lambda: asyncio.run(run()))
    return stage


def shell(script: str, *, granted: Grants | None = None, cwd: Path | str = "/", **more: Any) -> StageOutcome:
    return sandboxed("sh", "-c", script, granted=granted, cwd=cwd, **more)


def written(stage: StageOutcome) -> str:
    return stage.stdout.data.decode()


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory of the ordinary user."""
    directory = Path(tempfile.mkdtemp(dir="/var/tmp")).resolve()
    directory.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(directory, NOBODY, NOBODY)
    yield directory
    shutil.rmtree(directory)


def theirs(path: Path, text: str = "", mode: int = 0o644) -> Path:
    """A file of the ordinary user."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    if os.geteuid() == 0:
        for owned in (path, *path.parents):
            if owned.parent == Path("/var/tmp"):
                break
            os.chown(owned, NOBODY, NOBODY)
        os.chown(path, NOBODY, NOBODY)
    return path


@here
def test_a_command_runs_and_its_status_is_its_own() -> None:
    assert written(shell("echo in; exit 0")) == "in\n"
    assert shell("exit 7").status == Exited(7)


@here
def test_nothing_outside_can_be_written(place: Path) -> None:
    inside, outside = place / "in", place / "out"
    for directory in (inside, outside):
        theirs(directory / "file")
    attempt = f"echo x > {outside}/new; echo x > /new; echo x > /usr/new; echo x > {inside}/new; cat {inside}/new"
    assert written(shell(attempt, granted=grants(write=(inside,)), cwd=inside)) == "x\n"
    assert (outside / "new").exists() is False
    assert shell(f"echo x > {inside}/other", granted=grants(read=(inside,)), cwd=inside).status != Exited(0)
    assert shell(f"echo x > {outside}/new", granted=grants(write=(place,)), cwd=place).status == Exited(0)


@here
def test_what_others_keep_cannot_be_read(place: Path) -> None:
    secret = theirs(place / "other/secret", "K3Y")
    assert written(shell(f"cat {secret}; ls /root /home /var")) == ""
    assert written(shell(f"cat {secret}", granted=grants(read=(place / "other",)))) == "K3Y"


@here
def test_the_network_is_not_there_unless_it_is_granted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        attempt = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5); print('reached')"
        assert written(sandboxed("python3", "-c", attempt)) == ""
        assert written(sandboxed("python3", "-c", attempt, granted=grants(network=True))) == "reached\n"


@here
def test_abstract_sockets_belong_to_the_network() -> None:
    name = f"\\0chatml-{time.time_ns()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name.replace("\\0", "\0"))
        server.listen()
        attempt = f"import socket; socket.socket(socket.AF_UNIX).connect('{name}'); print('reached')"
        assert written(sandboxed("python3", "-c", attempt)) == ""
        assert written(sandboxed("python3", "-c", attempt, granted=grants(network=True))) == "reached\n"


@here
def test_host_processes_are_not_to_be_seen() -> None:
    count = "ls /proc | grep -c '^[0-9]'"
    assert int(written(shell(count))) < 8
    hidden = f"test -e /proc/{os.getpid()}/cmdline && tr '\\0' ' ' < /proc/{os.getpid()}/cmdline | grep -c pytest"
    assert written(shell(hidden)) == ""
    assert int(written(shell(count, granted=grants(read=("/proc",))))) > 8


@here
def test_nothing_runs_on_after_its_parent_died() -> None:
    mark = f"31556952.{time.time_ns()}"

    async def cut_short() -> list[int]:
        async with Launcher() as launcher:
            backend = await open_bubblewrap(Bubblewrap(), str)
            wanted = order("sh", "-c", f"setsid sleep {mark} & trap '' TERM; sleep {mark}", grants=grants())
            plan = Plan(plan_id="p", request_id="r", order=wanted, launch=backend.launch(wanted), backend="b")
            task = asyncio.create_task(run_pipeline(launcher, [plan], b"", Notes(), deadline=None))
            while len(running(f"sleep\0{mark}")) < 2:
                await asyncio.sleep(0.02)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return running(mark)

    assert as_user(lambda: asyncio.run(cut_short())) == []


@here
def test_no_capability_no_new_namespace_no_terminal_no_descriptor() -> None:
    status = written(shell("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status"))
    assert status.split() == ["CapEff:", "0" * 16, "CapBnd:", "0" * 16, "NoNewPrivs:", "1"]
    assert written(shell("unshare -U true && echo made")) == ""
    assert written(shell("echo x > /dev/tty && echo reached")) == ""
    listed = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"
    assert written(sandboxed("python3", "-c", listed)) == "[0, 1, 2, 3]\n"  # the listing itself is one


@here
def test_the_whole_disk_is_not_the_host() -> None:
    """With everything readable, the sockets of the host and its processes are still not there."""
    seen = written(shell("ls /run; ls /proc | grep -c '^[0-9]'", granted=grants(read=("/",))))
    assert int(seen) < 8


PAYLOADS = (".git/hooks/pre-commit", ".git/config", ".envrc", ".vscode/tasks.json")


@here
@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("present", [True, False])
def test_what_would_run_later_outside_cannot_be_left_behind(place: Path, payload: str, present: bool) -> None:
    """In a writable root, whether the place is there already or would have to be made, and by no detour either."""
    if present:
        theirs(place / payload, "good")
    directory = str(Path(payload).parent)
    detours = (
        f"mkdir -p {directory}; echo evil > {payload}; rm -rf {payload}; mv .git g; mv .vscode v; "
        f"mkdir -p {directory}; echo evil > {payload}; ln -sf /etc/passwd {payload}; echo fine > other; cat other"
    )
    stage = shell(detours, granted=grants(write=(place,)), cwd=place)
    assert written(stage).endswith("fine\n")
    assert set(os.listdir(place)) == {"other"} | ({Path(payload).parts[0]} if present else set())
    if present:
        assert (place / payload).read_text() == "good"
    else:
        assert not os.path.lexists(place / payload)


@here
@pytest.mark.parametrize("link", [".git", ".git/hooks", ".envrc"])
def test_a_link_where_something_has_to_stay_refuses_the_command(place: Path, link: str) -> None:
    """What it leads to could be mounted; the link itself could be replaced."""
    theirs(place / "elsewhere/config")
    theirs(place / link).unlink()
    (place / link).symlink_to(place / "elsewhere")
    with pytest.raises(AssertionError, match="is a link"):
        shell("true", granted=grants(write=(place,)), cwd=place)
    assert shell("true", granted=grants(read=(place,)), cwd=place).status == Exited(0)


@here
def test_what_is_granted_by_name_can_be_written(place: Path) -> None:
    theirs(place / ".git/config", "good")
    granted = grants(write=(place, place / ".git"))
    assert shell("echo other > .git/config; mkdir -p .git/hooks", granted=granted, cwd=place).status == Exited(0)
    assert (place / ".git/config").read_text() == "other\n"
    assert (place / ".git/hooks").is_dir()


@here
def test_mount_points_are_shared_and_go_with_the_last_one(place: Path) -> None:
    async def two() -> tuple[bool, list[str]]:
        async with Launcher() as launcher:
            backend = await open_bubblewrap(Bubblewrap(), str)

            async def one(seconds: str) -> None:
                wanted = order(
                    "sh", "-c", f"sleep {seconds}; echo x > .envrc", cwd=place, grants=grants(write=(place,))
                )
                launch = backend.launch(wanted)
                plan = Plan(plan_id="p", request_id="r", order=wanted, launch=launch, backend="b")
                await run_pipeline(launcher, [plan], b"", Notes(), deadline=None)

            long = asyncio.create_task(one("0.8"))
            await asyncio.sleep(0.2)
            await one("0.1")
            there = (place / ".envrc").is_dir()
            await long
            return there, os.listdir(place)

    assert as_user(lambda: asyncio.run(two())) == (True, [])


@here
def test_s029_what_was_hashed_is_what_runs(place: Path) -> None:
    """A program of the user's, swapped after its review, does not run; one that is not runs from its own content."""
    tool = theirs(place / "tool", "#!/bin/sh\necho good\n", 0o755)
    granted = grants(write=(place,))
    assert written(sandboxed(str(tool), granted=granted, cwd=place)) == "good\n"
    with pytest.raises(AssertionError, match="executable_changed"):
        sandboxed(str(tool), granted=granted, cwd=place, before=lambda: tool.write_text("#!/bin/sh\necho evil\n"))


@here
def test_a_root_that_became_a_link_stops_the_start(place: Path) -> None:
    theirs(place / "root/file")

    def swap() -> None:
        (place / "root").rename(place / "moved")
        (place / "root").symlink_to("/etc")

    with pytest.raises(AssertionError, match="executable_changed"):
        sandboxed("cat", "/etc/passwd", granted=grants(read=(place / "root",)), before=swap)


@here
def test_a_sandbox_that_cannot_be_made_is_not_a_result(place: Path) -> None:
    """The message of bubblewrap never passes for what the command said."""
    gone = theirs(place / "gone")
    with pytest.raises(AssertionError, match="spawn_error"):
        sandboxed("true", granted=grants(read=(gone,)), before=gone.unlink)


def opened(**options: Any) -> Any:
    async def attempt() -> Any:
        return await open_backends(Backends(backends=(Bubblewrap(**options),)), "linux", str)

    (backend,) = asyncio.run(attempt())
    return backend


def test_where_it_is_missing_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatml_shell.backends.bubblewrap.PLACES", ("/nowhere/bwrap",))
    missing = opened()
    assert "apt-get install bubblewrap" in missing.unavailable
    with pytest.raises(Refusal, match="apt-get install bubblewrap"):
        choose([missing], "required")
    with pytest.raises(Refusal):
        missing.launch(order("true", grants=grants()))


def test_what_cannot_make_namespaces_is_unavailable() -> None:
    """A program that is there and refuses: the trial tells."""
    refusing = opened(executable=parse_path("/bin/false", "workspace"))
    assert "/bin/false cannot make a sandbox here" in refusing.unavailable


def test_unknown_devices_are_not_guessed() -> None:
    assert "dev" in opened(dev="everything").unavailable
