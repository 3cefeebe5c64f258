"""`chatml repl` on a terminal: a real process on a pseudo-terminal, keys going in, a screen coming out."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatml_tools.repl.interrupts import AGAIN, Interrupts
from tests.house import ROOT, environment

pty = pytest.importorskip("pty", reason="pseudo-terminals are those of Unix")
pytest.importorskip("prompt_toolkit")

PROGRAM = """\
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches this process
{before}
from chatml_tools.commands import main
raise SystemExit(main(["repl", *sys.argv[1:]]))
"""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[=>]|\r")
CTRL_C, CTRL_D, UP = "\x03", "\x04", "\x1b[A"
PATIENCE = 30


class Terminal:
    """A process on a pseudo-terminal."""

    def __init__(self, folder: Path, *arguments: str, before: str = "", **changes: str) -> None:
        self.own, other = pty.openpty()
        settings = {"PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm", "XDG_STATE_HOME": str(folder / "state")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(before=before), *arguments],
            cwd=ROOT,
            env=environment(**{**settings, **changes}),
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self.seen = ""

    def key(self, keys: str) -> None:
        os.write(self.own, keys.encode())

    def read(self, seconds: float) -> bool:
        """Add to `seen` what comes within some seconds; whether the process goes on."""
        if not select.select([self.own], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.own, 65536)
        except OSError:  # This is how the end of a pseudo-terminal looks.
            return False
        self.seen += ESCAPE.sub("", data.decode("utf-8", "replace"))
        return bool(data)

    def wait(self, text: str) -> None:
        """Wait until a text appears, and forget everything up to it."""
        end = time.monotonic() + PATIENCE
        while text not in self.seen:
            goes_on = self.read(0.1) and time.monotonic() < end
            assert goes_on, f"waiting for {text!r}, this came: {self.seen!r}"
        self.seen = self.seen.partition(text)[2]

    def enter(self, text: str, *answers: str) -> None:
        """Type an input and Enter; its answers must follow, and a prompt."""
        self.key(text + "\r")
        for answer in answers:
            self.wait(answer)
        self.wait(">")

    def leave(self) -> int:
        """Leave with Ctrl-D, once there is a prompt; the exit status."""
        self.key(CTRL_D)
        end = time.monotonic() + PATIENCE
        while self.read(0.1):
            assert time.monotonic() < end, f"waiting for the end, this came: {self.seen!r}"
        return self.process.wait(PATIENCE)


Start = Callable[..., Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a session and waits for its first prompt, or another text."""
    started = []

    def run(*arguments: str, until: str = "1>", **settings: str) -> Terminal:
        terminal = Terminal(tmp_path, *arguments, **settings)
        started.append(terminal)
        terminal.wait(until)
        return terminal

    yield run
    for terminal in started:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.own)
        assert "Traceback" not in terminal.seen


def test_a_session(start: Start) -> None:
    terminal = start()
    terminal.enter("let x = 1", "x : int = 1")
    terminal.enter("x +\r2\r", "- : int = 3")
    terminal.enter("x + true", "<input 3>:1:1: error[type.mismatch]")
    terminal.enter(":type x", "int")
    terminal.enter(":nope", "unknown command `:nope`")
    assert terminal.leave() == 0


def test_ctrl_c_stops_what_runs_and_leaves_nothing_of_it(start: Start) -> None:
    terminal = start()
    terminal.enter("let cells = [0] let seen = ref(0)", "seen : ref(int) = ref(0)")
    terminal.key('let fresh = 1 cells[0] <- 5 print("runs") while true do seen := !seen + 1 done\r')
    terminal.wait("runs")
    time.sleep(0.2)
    terminal.key(CTRL_C)
    terminal.wait("interrupted: what was running is taken back")
    terminal.wait("3>")
    terminal.enter("cells", "- : int array = [0]")
    terminal.enter("!seen", "- : int = 0")
    terminal.enter("fresh", "unknown variable `fresh`")
    assert terminal.leave() == 0


def test_ctrl_c_during_an_event_takes_it_back(start: Start, tmp_path: Path) -> None:
    policy = tmp_path / "policy.chatml"
    policy.write_text(
        "let calls = ref(0)\nlet initial_state = 0\n"
        "let on_event ctx st ev = calls := !calls + 1;\n"
        '  match ev with | `Turn_end -> print("runs"); while true do calls := !calls + 1 done; Task.pure(st)\n'
        "  | _ -> Task.pure(st + 1)\n",
        encoding="utf-8",
    )
    terminal = start(str(policy))
    terminal.enter(":event turn_start", "state    1")
    terminal.key(":event turn_end\r")
    time.sleep(1.0)
    terminal.key(CTRL_C)
    terminal.wait("interrupted")
    terminal.wait(">")
    terminal.enter("!calls", "- : int = 1")
    terminal.enter(":state", "1")
    terminal.enter(":event turn_start", "  2 ", "state    2")
    assert terminal.leave() == 0


def test_ctrl_c_at_the_prompt_clears_the_input(start: Start) -> None:
    terminal = start()
    terminal.key("let broken = (\r1 +")
    terminal.wait("1 +")
    terminal.key(CTRL_C)
    terminal.wait("1>")
    terminal.enter("6 * 7", "- : int = 42")
    assert terminal.leave() == 0


def test_ctrl_c_at_any_moment_leaves_the_session(start: Start) -> None:
    terminal = start()
    terminal.enter("let rec spin n = spin(n)", "spin : ")
    for _ in range(3):
        terminal.key("spin(1)\r")
        for _ in range(20):
            terminal.key(CTRL_C)
            terminal.read(0.01)
    end = time.monotonic() + PATIENCE
    while "- : int = 42" not in terminal.seen:  # An input may still have been on its way.
        assert time.monotonic() < end, f"waiting for an answer, this came: {terminal.seen!r}"
        terminal.key(CTRL_C)
        time.sleep(1)
        terminal.key("6 * 7\r")
        while terminal.read(1) and select.select([terminal.own], [], [], 1)[0]:
            pass
    assert terminal.leave() == 0


def test_an_interrupt_that_python_has_lost_can_be_repeated() -> None:
    interrupts = Interrupts()
    with interrupts:
        with pytest.raises(KeyboardInterrupt):
            interrupts.handle(signal.SIGINT, None)
        interrupts.handle(signal.SIGINT, None)
        time.sleep(AGAIN * 1.1)
        with pytest.raises(KeyboardInterrupt):
            interrupts.handle(signal.SIGINT, None)
    interrupts.handle(signal.SIGINT, None)


def test_two_empty_lines_end_what_is_incomplete(start: Start) -> None:
    terminal = start()
    terminal.enter("let broken = (1\r\r", "<input 1>:", "error[syntax.", "2")
    assert terminal.leave() == 0


def test_the_greeting_tells_the_surface_that_inputs_have(start: Start, tmp_path: Path) -> None:
    policy = tmp_path / "policy.chatml"
    policy.write_text("let initial_state = 0\nlet on_event ctx st ev = Task.pure(st)", encoding="utf-8")
    terminal = start(str(policy), until="surface")
    terminal.wait("ui")
    terminal.wait("1>")
    assert terminal.leave() == 0


def test_tab_completes_a_field(start: Start) -> None:
    terminal = start()
    terminal.enter('let user = { name = "Ada"; age = 36 }', "user : ")
    terminal.key("user.na")
    terminal.wait("string")  # the menu tells the type
    terminal.key("\t")
    terminal.wait("me")
    terminal.key("\r")  # takes the completion
    terminal.key("\r")
    terminal.wait('- : string = "Ada"')
    terminal.wait(">")
    assert terminal.leave() == 0


def test_a_pasted_text_is_one_input(start: Start) -> None:
    terminal = start()
    terminal.key("\x1b[200~let a = 1\r\nlet b =\r\n  a + 1\r\n\x1b[201~")
    terminal.wait("a + 1")
    terminal.enter("", "a : int = 1", "b : int = 2")
    assert terminal.leave() == 0


def test_history_outlasts_the_session(start: Start, tmp_path: Path) -> None:
    terminal = start()
    terminal.enter("41 + 1", "- : int = 42")
    assert terminal.leave() == 0
    assert "41 + 1" in (tmp_path / "state/chatml/history").read_text(encoding="utf-8")
    terminal = start()
    terminal.key(UP)
    terminal.wait("41 + 1")
    terminal.enter("", "- : int = 42")
    assert terminal.leave() == 0


def test_a_history_that_cannot_be_kept_is_no_error(start: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    terminal = start(XDG_STATE_HOME=str(tmp_path / "file"))
    terminal.enter("1 + 1", "- : int = 2")
    assert terminal.leave() == 0


def test_a_file_that_does_not_check_is_reported(start: Start, tmp_path: Path) -> None:
    (tmp_path / "bad.chatml").write_text("let x = 1 + true", encoding="utf-8")
    terminal = start(str(tmp_path / "bad.chatml"), until="bad.chatml:1:9: error[type.mismatch]")
    terminal.wait("1>")
    assert terminal.leave() == 0


def test_without_prompt_toolkit(start: Start) -> None:
    hint = "`pip install 'chatml-toolkit[repl]'` adds completion, history and colours"
    terminal = start(before="sys.modules['prompt_toolkit'] = None", until=hint)
    terminal.wait("1>")
    terminal.enter("let f x =\r  x + 1\r", "f : (int -> int)")
    terminal.key("let rec spin n = spin(n)\r")
    terminal.wait("spin : ")
    terminal.key("spin(1)\r")
    time.sleep(0.5)
    terminal.key(CTRL_C)
    terminal.wait("interrupted")
    terminal.wait("4>")
    terminal.key("(1 +")
    terminal.wait("(1 +")
    time.sleep(0.2)  # Python's `input` notices a signal only while it waits for keys.
    terminal.key(CTRL_C)
    terminal.wait("4>")
    terminal.enter("f(1)", "- : int = 2")
    assert terminal.leave() == 0
