"""What a command imports: start-up time counts, and a module that creeps in is noticed here before any clock does."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.house import environment

SCRIPT = """\
type line = { count : int; price : float }
let total lines = Array.fold(lines, 0.0, fun sum line -> sum +. line.price *. 1.5)
let shown value = match value with | `Some(x) -> to_string(x) | `None -> "nothing"
print(shown(`Some(total([{ count = 1; price = 2.0 }]))))
"""
ALLOWED = {
    *("genericpath", "ntpath", "os", "posixpath", "stat"),  # Python starts with these, but for `-S`.
    *("collections", "copyreg", "enum", "functools", "itertools", "keyword", "operator", "re", "reprlib", "types"),
    *("contextlib", "typing", "warnings"),
    *("ast", "atexit", "bisect", "chatml", "chatml_tools", "gc", "importlib", "math"),
}
"""Top-level modules that a plain script may load, besides those in C whose names begin with `_`.

A line each: of Python itself, of `re` (which the script that `pip` installs for a command imports), of `typing`, ours.
"""

LATE = [
    *(
        "chatml.border.python",
        "chatml.border.snapshot",
        "chatml.engines.compile.tracebacks",
        "chatml.door",
        "chatml.diagnostics.model",
    ),
    *("chatml.builtins.context", "chatml.builtins.json_reader", "chatml.builtins.shell", "chatml.engines.walk"),
    *(
        "chatml_tools.overview",
        "chatml.values.failures",
        "chatml.syntax.parse.problems",
        "chatml.syntax.parse.traps",
        "chatml.syntax.portable",
    ),
    *("chatml.diagnostics.suggest", "chatml.surfaces.moderator", "chatml.surfaces.ui", "chatml.types.report.problems"),
]
"""Modules of the language that a script which runs as it should has no use for."""

PROGRAM = """\
import sys
before = set(sys.modules)
from chatml_tools.commands import main
status = main(sys.argv[1:])
print(*sorted(set(sys.modules) - before), file=sys.stderr)
raise SystemExit(status)
"""


def imported(*arguments: str, status: int = 0, isolated: bool = True) -> set[str]:
    """The modules that a command imports in a process of its own; an isolated one finds no installed packages."""
    command = [sys.executable, *(["-S"] if isolated else []), "-c", PROGRAM, *arguments]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == status, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_playing_a_scenario_needs_no_event_loop_and_no_documents(tmp_path: Path) -> None:
    policy, events = tmp_path / "policy.chatml", tmp_path / "events.json5"
    policy.write_text("let initial_state = 0\nlet on_event c s e = Task.pure(s + 1)", encoding="utf-8")
    events.write_text("[{ phase: 'turn_start' }]", encoding="utf-8")
    modules = imported("run", str(policy), "--events", str(events), isolated=False)
    assert "chatml_runtime.moderation.moderator" in modules
    assert modules & {"asyncio", "chatmd", "chatml_runtime.host.controller", "chatml_runtime.door", "ssl"} == set()


def test_checking_loads_no_engine(tmp_path: Path) -> None:
    script = tmp_path / "script.chatml"
    script.write_text(SCRIPT, encoding="utf-8")
    modules = imported("check", str(script))
    assert [name for name in sorted(modules) if name == "ast" or name.startswith("chatml.engines.compile")] == []


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_plain_script_imports_little(command: str, tmp_path: Path) -> None:
    script = tmp_path / "script.chatml"
    script.write_text(SCRIPT, encoding="utf-8")
    modules = imported(command, str(script))
    others = {name.split(".")[0] for name in modules if not name.startswith("_")}
    assert others <= ALLOWED
    assert sorted(modules & set(LATE)) == []
    assert len([name for name in modules if name.startswith("chatml")]) <= 112


def test_reports_and_surfaces_load_what_they_need(tmp_path: Path) -> None:
    """The late modules exist and are found by those who need them: the tests above would pass without any of them."""
    script = tmp_path / "script.chatml"
    script.write_text("let initial_state = 0\nlet on_event c s e = Task.pure(s + true)", encoding="utf-8")
    modules = imported("run", str(script), status=1)
    assert {"chatml.diagnostics.model", "chatml.types.report.problems", "chatml.surfaces.ui"} <= modules
    assert [name for name in LATE if find_spec(name) is None] == []
