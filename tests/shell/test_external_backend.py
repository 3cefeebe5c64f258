"""External backends and the resource runner: words put in whole, files compared again (sections 18.2 and 19)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatml_shell.errors import ShellError
from chatml_shell.instantiate.runtime import RUNNER
from chatml_shell.registry.registry import Registry
from tests.shell.prompts import ALLOW, codes, runtime
from tests.shell.registries import Spawns, called, code, executable, output, running

POWERS = '<capabilities sandbox="{}" arbitrary_code="true" child_processes="true"><read path="/"/></capabilities>'
TOOL = '<tool name="t" mode="structured" runtime="r" result="stdout"/>'
SHOW = '#!/bin/sh\nfor word in "$@"; do printf "[%s]" "$word"; done\n'


def wrapped(wrapper: Path | str, atoms: str, sandbox: str = "required", attributes: str = "") -> str:
    """A runtime whose one backend is a program."""
    backend = f'<external_backend id="box" executable="{wrapper}" confinement="declared" {attributes}>{atoms}'
    backends = f'<backends merge="replace" accept_declared_confinement="true">{backend}</external_backend></backends>'
    return runtime(POWERS.format(sandbox) + backends + ALLOW, more='cwd="/tmp"') + TOOL


def run(*words: str) -> dict[str, Any]:
    """The arguments of a call."""
    return {"program": words[0], "arguments": list(words[1:])}


def test_s_034_the_words_of_a_wrapper(tmp_path: Path) -> None:
    """S-034: the command's words arrive whole, whatever is in them; without them there is no manifest."""
    show = executable(tmp_path / "show", SHOW)
    text = wrapped(show, '<arg value="--"/><cwd_value/><command_argv/>')
    assert output(text, run("echo", "$(x)", "a b")) == "[--][/tmp][/usr/bin/echo][$(x)][a b]"
    (found,) = called(text, run("echo"))
    assert found.records[0].backend == "box"
    assert codes(wrapped(show, "")) == ["shell.external_backend_command_argv"]


def test_every_atom(tmp_path: Path) -> None:
    show = executable(tmp_path / "show", SHOW)
    atoms = (
        '<read_roots flag="-r"/><write_roots flag="-w"/><network_flag value="--net"/><target_executable/>'
        "<resource_limit_args/><command_argv/>"
    )
    text = wrapped(show, atoms).replace("</capabilities>", '<write path="/tmp"/></capabilities><limits memory="1GiB"/>')
    assert output(text, run("echo")) == "[-r][/][-w][/tmp][/usr/bin/echo][--memory][1073741824][/usr/bin/echo]"


def test_a_wrapper_that_is_only_declared_counts_when_that_is_accepted(tmp_path: Path) -> None:
    show = executable(tmp_path / "show", SHOW)
    text = wrapped(show, "<command_argv/>").replace('accept_declared_confinement="true"', "")
    with pytest.raises(ShellError) as raised:
        code(text, run("echo"))
    assert raised.value.diagnostics[0].code == "shell.backend_unavailable"


def test_a_wrapper_is_the_file_that_it_was(tmp_path: Path, spawns: Spawns) -> None:
    missing = wrapped(tmp_path / "none", "<command_argv/>")
    with pytest.raises(ShellError, match="cannot be used"):
        code(missing, run("echo"))
    show = executable(tmp_path / "show", SHOW)
    with pytest.raises(ShellError, match="not the declared one"):
        code(wrapped(show, "<command_argv/>", attributes='sha256="00"'), run("echo"))
    assert spawns.count == 0

    async def work(registry: Registry) -> str:
        executable(show, SHOW + "# swapped\n")
        return await registry.call("t", json.dumps(run("echo")))

    assert "executable_changed" in running(wrapped(show, "<command_argv/>"), work)


def test_a_runner_keeps_the_limits(tmp_path: Path) -> None:
    """The host's own program starts the command, and is compared like it."""
    show = executable(tmp_path / "runner", SHOW)
    backends = '<backends merge="replace"><direct/></backends>'
    limits = '<limits cpu_time="1.5s" open_files="64"/>'
    text = runtime(POWERS.format("direct_unsafe") + backends + limits + ALLOW) + TOOL
    environment = {"PATH": "/usr/bin:/bin", RUNNER: str(show)}
    assert output(text, run("echo", "x"), environment=environment) == (
        "[--cpu][2][--open-files][64][--][/usr/bin/echo][x]"
    )
    assert output(text, run("sh", "-c", "ulimit -n; ulimit -t")) == "64\n2\n"
