"""Runtimes made on this machine: all of it or nothing (shell.md sections 11 and 18)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatmd.shell.sections import Environment
from chatml_shell.approvals.answers import Answer, ForScope, Once
from chatml_shell.approvals.grants import FileStore
from chatml_shell.approvals.question import Question
from chatml_shell.errors import ShellError, StorageError
from chatml_shell.instantiate.environment import ALWAYS, NEVER, build_variables, cleaned
from chatml_shell.plans.outcome import Exited
from chatml_shell.plans.plan import Plan
from chatml_shell.registry.registry import Registry
from chatml_shell.storage.places import session_file
from chatml_shell.storage.state_file import StateFile
from tests.shell.prompts import ALLOW, DIRECT, load, runtime
from tests.shell.registries import Spawns, called, code, executable, fake, opened, output, running

CHAIN = '<tool name="t" mode="chain" runtime="r" result="stdout"/>'
HASH = hashlib.sha256(b"x").hexdigest()


async def nothing(registry: Registry) -> None:
    """No work at all."""


def refused(text: str, **options: Any) -> list[str]:
    """Why a registry is not opened."""
    with pytest.raises(ShellError) as raised:
        running(text, nothing, **options)
    return [one.code for one in raised.value.diagnostics]


def declared(inside: str, more: str = "") -> str:
    """A runtime that would run anything, with some more sections."""
    return runtime(DIRECT + ALLOW + inside, more=more)


HOOKED = (
    "<reviewers><reviewer id='h' kind='executable' executable='{}' runtime='w' {}/></reviewers></shell_access>"
    '<shell_access id="w" extends="builtin:yolo">'
)


@pytest.mark.parametrize(
    ("inside", "more", "expected"),
    [
        ("", 'cwd="/nowhere/at/all"', "directory_unavailable"),
        ("<environment><pass name='NONE' required='true'/></environment>", "", "environment_missing"),
        ("<environment><path_env name='NONE' required='true'/></environment>", "", "environment_missing"),
        ("<secrets><from_env name='NONE'/></secrets>", "", "environment_missing"),
        ("<secrets><from_file path='/nowhere'/></secrets>", "", "secret_file_missing"),
        ("<secrets><from_file path='/bin/sh'/></secrets>", "", "secret_load_failed"),
        ("<resolver><executable id='x' path='/nowhere'/></resolver>", "", "executable_unavailable"),
        (
            f"<resolver><executable id='x' path='/bin/sh' sha256='{HASH}'/></resolver>",
            "",
            "executable_digest_mismatch",
        ),
        ("<limits wall_time='none'/>", "", "required_limit_disabled"),
        ("<limits stdout='0'/>", "", "required_limit_disabled"),
        ("<audit format='jsonl' path='/proc/nowhere/audit'/>", "", "audit_open_failed"),
        (HOOKED.format("/nowhere", ""), "", "hook_executable_unavailable"),
        (HOOKED.format("/bin/true", f"sha256='{HASH}'"), "", "hook_digest_mismatch"),
    ],
)
def test_what_this_machine_cannot_give(inside: str, more: str, expected: str, spawns: Spawns) -> None:
    assert refused(declared(inside, more)) == [f"shell.{expected}"]
    assert spawns.count == 0


def test_roots_that_the_environment_names() -> None:
    inside = (
        '<capabilities sandbox="direct_unsafe"><read path_env="ROOT" {}/></capabilities>'
        '<backends merge="replace"><direct/></backends>'
    )
    environment = {"PATH": "/usr/bin:/bin"}
    missing = ["shell.capability_path_missing"]
    assert refused(runtime(inside.format("")), environment=environment) == missing
    assert refused(runtime(inside.format("")), environment={**environment, "ROOT": "relative"}) == missing
    running(runtime(inside.format('optional="true"')), nothing, environment=environment)
    relative = {**environment, "ROOT": "relative"}
    assert refused(runtime(inside.format('optional="true"')), environment=relative) == missing


def test_s_012_a_backend_that_is_not_here_stops_the_start() -> None:
    """S-012: `preferred` with a backend of another platform compiles and does not start."""
    other = '<capabilities sandbox="preferred"/><backends merge="replace"><direct when="windows"/></backends>'
    assert refused(runtime(other)) == ["shell.backend_unavailable"]


@pytest.mark.parametrize("expression", ["(a", "(?=a)", "(a)\\1", "a{2000}"])
def test_expressions_that_cannot_be_linear_are_refused(expression: str) -> None:
    policy = f"<policy><rule id='x' action='deny'><program_regex value='{expression}'/></rule></policy>"
    assert refused(runtime(DIRECT + policy)) == ["shell.invalid_program_regex"]


def test_an_expression_cannot_stop_the_host() -> None:
    """Hostile documents: nested repetition over a long text takes linear time."""
    policy = "<policy default='allow'><rule id='x' action='deny'><program_regex value='(a*)*b$'/></rule></policy>"
    tool = '<tool name="t" mode="structured" runtime="r"/>'
    started = time.perf_counter()
    call = {"program": "a" * 20_000, "arguments": []}
    assert code(runtime(DIRECT + policy) + tool, call) == "resolution_error"
    assert time.perf_counter() - started < 10


def test_script_tools(tmp_path: Path) -> None:
    tool = '<tool name="t" mode="script" runtime="r" script="{}" {}/>'
    plain = tmp_path / "plain"
    plain.write_text("echo")
    assert refused(runtime() + tool.format("/nowhere", "")) == ["shell.script_unavailable"]
    assert refused(runtime() + tool.format(plain, "")) == ["shell.script_not_executable"]
    with_interpreter = tool.format(plain, "interpreter='/nowhere'")
    assert refused(runtime() + with_interpreter) == ["shell.script_executable_unavailable"]


def variables(operations: str, inherit: str, host: dict[str, str]) -> dict[str, str]:
    """The variables that a section makes."""
    text = runtime(f'<environment inherit="{inherit}">{operations}</environment>')
    section = load(text).shell_runtimes[0].environment or Environment()
    return dict(build_variables(section, host, str, "r").values)


def test_variables_in_order() -> None:
    """Section 18.1: what is inherited, what is done, and what never passes."""
    host = {
        "A": "1",
        "LD_PRELOAD": "x",
        "BASH_ENV": "x",
        "PYTHONPATH": "x",
        "GIT_DIR": "g",
        "PATH": "/bin:.:/usr/bin:/bin",
    }
    assert variables("", "none", host) == {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", **ALWAYS}
    assert variables("", "safe", host) == {"A": "1", "PATH": "/bin:/usr/bin", **ALWAYS}
    assert variables("", "raw", host) == {"A": "1", "GIT_DIR": "g", "PATH": "/bin:/usr/bin", **ALWAYS}
    done = variables(
        "<set name='B' value='2=&#10;'/><pass name='A'/><set name='C1' value='x'/><unset_prefix value='C'/>"
        "<path prepend='/opt/bin'/><path append='/late'/><unset name='B'/><set name='TERM' value='xterm'/>",
        "selected",
        host,
    )
    assert done == {"A": "1", "PATH": "/opt/bin:/late", **ALWAYS}


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_what_never_passes(values: dict[str, str]) -> None:
    """Whatever a declaration makes, no command gets a variable that makes programs run other code."""
    found = cleaned({**values, **dict.fromkeys(NEVER, "x"), "LD_X": "x", "DYLD_X": "x"})
    assert not NEVER & found.keys()
    assert not any(name.startswith(("LD_", "DYLD_")) for name in found)
    assert all(entry.startswith("/") for entry in found["PATH"].split(":"))


SECRETS = st.text("abcK3Y!\n", min_size=1, max_size=10).map(lambda text: f"K!{text.strip()}Y")
"""No digest and no time holds such a text by chance, as one might `333`."""


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SECRETS, st.integers(0, 12), st.sampled_from(["stdout", "stderr", "argv", "missing", "rationale"]))
def test_no_channel_tells_a_secret(tmp_path: Path, secret: str, cut: int, channel: str) -> None:
    """A secret does not come out of results, errors, questions, records or the audit, whole or cut by a limit."""
    replacement = "[R]"
    audit = tmp_path / "audit.jsonl"
    audit.unlink(missing_ok=True)
    text = (
        runtime(
            DIRECT
            + f'<policy default="ask"/><audit format="jsonl" path="{audit}" content="full"/>'
            + f'<limits stdout="{max(cut, 1)}"/>'
            + f'<secrets replacement="{replacement}"><from_env name="T"/></secrets>'
        )
        + '<tool name="t" mode="structured" runtime="r" result="structured"/>'
    )
    questions: list[Question] = []

    async def ask(question: Question) -> Answer:
        questions.append(question)
        return Once()

    def answer(plan: Plan, stdin: bytes) -> Any:
        said = f"x{secret}y".encode()
        return Exited(0), said if channel == "stdout" else b"", said if channel == "stderr" else b""

    call: dict[str, Any] = {"program": "echo", "arguments": [f"-{secret}-"] if channel == "argv" else []}
    if channel == "missing":
        call["program"] = f"no-{secret}"
    if channel == "rationale":
        call["rationale"] = secret
    (found,) = called(
        text, call, environment={"PATH": "/usr/bin:/bin", "T": secret}, provider=ask, backends=fake(answer)
    )
    kept = audit.read_text() if audit.exists() else ""
    shown = [found.output, repr(found.records), repr(questions), kept]
    for place in shown:
        assert secret not in place
        assert json.dumps(secret)[1:-1] not in place


def test_two_hosts_keep_their_grants_in_one_file(tmp_path: Path) -> None:
    """Changes of one process are not lost in another's, and a damaged or foreign file gives nothing."""
    file = StateFile(str(tmp_path / "state.json"), key=b"key")

    def add(number: int) -> None:
        for index in range(20):
            file.update(partial(with_key, f"{number}-{index}"))

    def with_key(key: str, state: dict[str, Any]) -> dict[str, Any]:
        return {**state, key: True}

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(file.read()) == 80
    assert (Path(file.path).stat().st_mode & 0o777) == 0o600
    held = json.loads(Path(file.path).read_text())
    Path(file.path).write_text(json.dumps({**held, "state": {"grant": True}}))
    with pytest.raises(StorageError) as raised:
        file.read()
    assert raised.value.code == "shell.approval_file_integrity"
    Path(file.path).write_text(json.dumps({**held, "version": 2}))
    with pytest.raises(StorageError) as raised:
        file.read()
    assert raised.value.code == "shell.approval_file_version"


def test_a_grant_that_cannot_be_stored_is_not_given(tmp_path: Path, spawns: Spawns) -> None:
    async def ask(question: Question) -> Answer:
        return ForScope("exact_session")

    (tmp_path / ".chatmd").write_text("a file where a directory must be")
    store = FileStore(session_file(str(tmp_path)))
    text = runtime(DIRECT + '<policy default="ask"/>') + CHAIN
    assert code(text, {"command": "echo a"}, provider=ask, session_grants=store) == "denied"
    assert spawns.count == 0


def test_hostile_arguments(tmp_path: Path) -> None:
    """A megabyte of words, bytes that are no text, a line that is nothing but operators."""
    text = runtime() + '<tool name="t" mode="structured" runtime="r" result="stdout"/>'
    assert code(text, {"program": "echo", "arguments": ["x" * 1_000_000]}) == "spawn_error"
    assert output(text, {"program": "printf", "arguments": ["\\377x"]}) == "\ufffdx"
    assert code(runtime() + CHAIN, {"command": "||||" * 1_000}) == "shell.tool_chain_parse"
    executable(tmp_path / "ls")
    inside = f'<environment><path prepend="{tmp_path}"/></environment>'
    found = called(declared(inside) + CHAIN, {"command": "ls"}, {"command": "pwd"})
    assert [one.records[0].executable for one in found] == [str(tmp_path / "ls"), "/usr/bin/pwd"]


def test_a_thousand_calls_leave_nothing_behind() -> None:
    """No descriptor, no thread, no process."""

    def state() -> tuple[int, int]:
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    async def main() -> tuple[tuple[int, int], tuple[int, int]]:
        async with opened(runtime() + CHAIN) as registry:
            for _ in range(5):
                await registry.call("t", '{"command": "echo a | cat"}')
            before = state()
            for _ in range(250):
                calls = [registry.call("t", '{"command": "true"}') for _ in range(4)]
                await asyncio.gather(*calls)
            return before, state()

    before, after = asyncio.run(main())
    assert after[0] <= before[0] + 2
    assert after[1] <= before[1] + 8
    parent = f"PPid:\t{os.getpid()}\n"
    assert [path for path in Path("/proc").glob("[0-9]*/status") if parent in text_of(path)] == []


def text_of(path: Path) -> str:
    """The text of a file that may be gone."""
    try:
        return path.read_text()
    except OSError:
        return ""
