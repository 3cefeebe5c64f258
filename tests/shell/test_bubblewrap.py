"""The sandbox of Linux, tried by commands that want out: each fails, and works with the grant (shell.md section 19)."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatml_shell.backends.bubblewrap import PLACES, probed
from chatml_shell.errors import Refusal, ShellError
from chatml_shell.resolver.resolve import pin
from tests.shell.prompts import ALLOW, runtime
from tests.shell.registries import Spawns, called, code


def why_not() -> str:
    """Why there is no sandbox on this machine; empty when there is."""
    for place in PLACES:
        try:
            return asyncio.run(probed(pin(place)))
        except Refusal:
            continue
    return "bwrap is not installed"


NONE = why_not()
TOOL = '<tool name="t" mode="raw" runtime="r" executable="/bin/bash" result="combined"/>'
needs_a_sandbox = pytest.mark.skipif(bool(NONE), reason=NONE)


def sandboxed(*roots: str, powers: str = "", backend: str = "") -> str:
    """A runtime that may run anything, in a sandbox with some roots."""
    capabilities = (
        f'<capabilities arbitrary_code="true" child_processes="true" {powers}>{"".join(roots)}</capabilities>'
    )
    backends = f'<backends merge="replace"><bubblewrap {backend}/></backends>'
    return runtime(capabilities + backends + ALLOW, more='cwd="/usr"') + TOOL


def outcome(text: str, script: str) -> tuple[int, str]:
    """The exit status of a script in the sandbox, and what it wrote."""
    (found,) = called(text, {"script": script})
    assert found.code is None, found.output
    assert found.records[0].backend == "linux-bubblewrap"
    status = found.records[0].status
    return getattr(status, "code", -1), found.output


@needs_a_sandbox
def test_it_runs_and_is_called_by_its_name() -> None:
    assert outcome(sandboxed(), "echo hi; exit 3") == (3, "hi\n")


@needs_a_sandbox
def test_writing_needs_a_write_root(tmp_path: Path) -> None:
    target = tmp_path / "file"
    status, _ = outcome(sandboxed(), f"echo x > {target}")
    assert (status != 0, target.exists()) == (True, False)
    status, _ = outcome(sandboxed(f'<read path="{tmp_path}"/>'), f"echo x > {target}")
    assert (status != 0, target.exists()) == (True, False)
    assert outcome(sandboxed(f'<write path="{tmp_path}"/>'), f"echo x > {target}") == (0, "")
    assert target.read_text() == "x\n"


@needs_a_sandbox
def test_reading_needs_a_root(tmp_path: Path) -> None:
    """Not the files of others, not those that a link leads to."""
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(secret)
    for path in (secret, inside / "link", Path.home() / ".bashrc", Path("/root")):
        status, said = outcome(sandboxed(f'<read path="{inside}"/>'), f"cat {path}/* {path}")
        assert (status != 0, "s3cret" in said) == (True, False)
    assert outcome(sandboxed(f'<read path="{tmp_path}"/>'), f"cat {inside}/link") == (0, "s3cret")


@pytest.fixture(name="port")
def listening() -> Iterator[int]:
    """A server on the loopback interface of the host."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepting = threading.Thread(target=accept_all, args=(server,), daemon=True)
        accepting.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        accepting.join()


def accept_all(server: socket.socket) -> None:
    """Take connections until the server is shut down."""
    while True:
        try:
            server.accept()[0].close()
        except OSError:
            return


@needs_a_sandbox
def test_the_network_needs_its_power(port: int) -> None:
    script = f"exec 3<>/dev/tcp/127.0.0.1/{port}"
    assert outcome(sandboxed(), script)[0] != 0
    assert outcome(sandboxed(powers='network="true"'), script)[0] == 0


@needs_a_sandbox
def test_processes_of_the_host_are_not_there() -> None:
    status, said = outcome(sandboxed(), f"kill -0 {os.getpid()}; echo /proc/[0-9]* | wc -w")
    assert "No such process" in said
    assert int(said.split()[0]) < 6
    assert status == 0


@needs_a_sandbox
def test_there_is_nothing_to_climb_by() -> None:
    """No capabilities, no new privileges, no terminal, three descriptors, no sockets of the session."""
    script = (
        "grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; ls /proc/self/fd | wc -l; ls /run 2>&1; "
        "(exec 3<>/dev/tty) 2>&1; umask"
    )
    _, said = outcome(sandboxed(), script)
    assert "CapEff:\t0000000000000000" in said
    assert "NoNewPrivs:\t1" in said
    assert "\n4\n" in said  # three, and the one by which `ls` reads the directory
    assert "/run': No such file" in said or "cannot access" in said
    assert "No such device" in said


@needs_a_sandbox
@pytest.mark.parametrize("name", [".git/hooks/pre-commit", ".git/config", ".envrc", ".vscode/tasks.json"])
@pytest.mark.parametrize("exists", [False, True])
def test_a_payload_for_later_cannot_be_left(tmp_path: Path, name: str, exists: bool) -> None:
    """Whether the place is there already or not; granted by name it can be written."""
    (tmp_path / ".git/hooks").mkdir(parents=True)
    target = tmp_path / name
    if exists:
        target.parent.mkdir(exist_ok=True)
        target.write_text("old")
    script = f"mkdir -p {target.parent}; echo evil > {target}; echo fine > {tmp_path}/fine"
    outcome(sandboxed(f'<write path="{tmp_path}"/>'), script)
    assert (tmp_path / "fine").read_text() == "fine\n"
    assert (target.read_text() if target.exists() else None) == ("old" if exists else None)
    left = {path.name for path in tmp_path.iterdir()} - {".git", "fine", *([name.split("/")[0]] if exists else [])}
    assert left == set()
    granted = target.parent if target.parent != tmp_path else target
    if granted.exists():
        roots = (f'<write path="{tmp_path}"/>', f'<write path="{granted}"/>')
        assert outcome(sandboxed(*roots), f"echo meant > {target}")[0] == 0
        assert target.read_text() == "meant\n"


@needs_a_sandbox
def test_without_a_repository_none_is_made(tmp_path: Path) -> None:
    outcome(
        sandboxed(f'<write path="{tmp_path}"/>'), f"mkdir -p {tmp_path}/.git/hooks; echo x > {tmp_path}/.git/config"
    )
    assert list(tmp_path.iterdir()) == []


@needs_a_sandbox
def test_a_root_of_everything_is_still_a_sandbox(tmp_path: Path) -> None:
    """Reading all does not mean writing any, and the processes are the sandbox's own."""
    text = sandboxed('<read path="/"/>')
    assert outcome(text, f"echo x > {tmp_path}/file")[0] != 0
    assert outcome(text, "test $$ -lt 10")[0] == 0


@needs_a_sandbox
def test_pipes_between_sandboxes(tmp_path: Path) -> None:
    chain = '<tool name="t" mode="chain" runtime="r" result="stdout"/>'
    text = sandboxed().replace(TOOL, chain)
    (found,) = called(text, {"command": "printf abc | wc -c"})
    assert found.output.strip() == "3"


def test_a_sandbox_that_is_not_there_stops_the_start(spawns: Spawns) -> None:
    """It says how to get one; and nothing is published."""
    with pytest.raises(ShellError) as raised:
        code(sandboxed(backend='executable="/nowhere/bwrap"'), {"script": "x"})
    (found,) = raised.value.diagnostics
    assert found.code == "shell.backend_unavailable"
    assert "apt install bubblewrap" in found.message or "bwrap" in found.message
    assert spawns.count == 0


@needs_a_sandbox
def test_a_wrapper_that_is_another_is_not_run(tmp_path: Path) -> None:
    copy = tmp_path / "bwrap"
    shutil.copy("/usr/bin/bwrap", copy)
    assert outcome(sandboxed(backend=f'executable="{copy}"'), "echo hi") == (0, "hi\n")
