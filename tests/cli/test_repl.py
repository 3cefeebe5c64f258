"""`chatml repl` through a pipe: a real process reads inputs from its standard input."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from chatml_tools.commands import main
from tests.house import COMMANDS, ROOT, environment

POLICY = """
let calls = ref(0)
let initial_state = 0
let on_event ctx st ev =
  match ev with
  | `Turn_start -> calls := !calls + 1; Task.pure(st + 1)
  | `Boom -> fail("boom")
  | _ -> Task.pure(st)
"""


Told = tuple[str, str, int]
"""What a session prints, what it reports, and its exit status."""

Repl = Callable[..., Told]


def in_a_process(text: str | bytes, *arguments: str, cwd: Path = ROOT) -> Told:
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS["chatml"], "repl", *arguments],
        cwd=cwd,
        env=environment(),
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.stdout.decode(), done.stderr.decode(), done.returncode


@pytest.fixture
def repl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Repl:
    """A session in this process, which is a hundred times as fast."""

    def run(text: str | bytes, *arguments: str, cwd: Path = ROOT) -> Told:
        monkeypatch.chdir(cwd)
        data = text.encode() if isinstance(text, str) else text
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = main(["repl", *arguments])
        out, err = capsys.readouterr()
        return out, err, status

    return run


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "policy.chatml"
    path.write_text(POLICY, encoding="utf-8")
    return str(path)


def test_values_types_and_output(repl: Repl) -> None:
    out, err, status = repl('let x = 1\nx + 1\nprint("hi")\nlet id y = y\n\n(* a comment *)\nid("a")\n')
    assert out == 'x : int = 1\n- : int = 2\nhi\nid : (a -> a)\n- : string = "a"\n'
    assert (err, status) == ("", 0)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("let f x =\n  match x with\n  | `A -> 1\n  | `B -> 2\nf(`B)\n", ["f : ([`A | `B] -> int)", "- : int = 2"]),
        ("let f x =\n  x + 1\n\nf(1)", ["f : (int -> int)", "- : int = 2"]),
        ("let f x = match x with\n| `A -> 1\n| _ -> 2\nf(`A)", ["f : ([`A | ...] -> int)", "- : int = 1"]),
        ("if true\nthen 1\nelse 2\n3", ["- : int = 1", "- : int = 3"]),
        ("let a = 1\nin\na", ["- : int = 1"]),
        ("module M = struct\nlet a = 1\n\nlet b = 2\nend\nM.b", ["module M : {a: int; b: int}", "- : int = 2"]),
        ("1\n(2)\n[3]", ["- : int = 1", "- : int = 2", "- : int array = [3]"]),
        ("(* one\n\ntwo *) 1", ["- : int = 1"]),
        ('"one\ntwo"', ['- : string = "one\\ntwo"']),
        ('1\n"one\ntwo"', ["- : int = 1", '- : string = "one\\ntwo"']),
        ("let x = 1\r\nlet f y =\r\n  x + y\r\nf(1)\r\n", ["x : int = 1", "f : (int -> int)", "- : int = 2"]),
        ("let x = 1 let y = 2 x + y", ["x : int = 1", "y : int = 2", "- : int = 3"]),
        ("let rec f x = x\n\nand g x = f(x)\n\ng(1)", ["f : (a -> a)", "g : (a -> a)", "- : int = 1"]),
        (
            "let rec f x = x\n\n(* one\ntwo *)\n(* three *)\nand g x = f(x)\n(* four *)\ng(1)",
            ["f : (a -> a)", "g : (a -> a)", "- : int = 1"],
        ),
        ("match `B with\n| `A -> 1\n\n| `B -> 2\n\n3", ["- : int = 2", "- : int = 3"]),
        ("", []),
        ("\n\n   \n", []),
        ("\ufefflet x = 1", ["x : int = 1"]),
    ],
)
def test_where_inputs_end(repl: Repl, text: str, lines: list[str]) -> None:
    assert repl(text) == ("".join(f"{line}\n" for line in lines), "", 0)


@pytest.mark.parametrize(
    ("data", "report"),
    [
        (b"let x = 1\nlet y = x + true\nx", "<input 2>:1:9: error[type.mismatch]"),
        (b"1\n\n  1 / 0", "<input 2>:1:3: error[runtime.division_by_zero]"),
        (b"let q = (1 +", "<input 1>:1:13: error[syntax."),
        (b"let q = (1 +\n:names", "<input 1>:1:13: error[syntax."),
        (b'"open', "<input 1>:1:6: error[syntax."),
        (b"(* open", "<input 1>:1:1: error[syntax.unterminated_comment]"),
        (b"let x = \0", "<input 1>:1:9: error[syntax."),
        (b'"\xff"', "<input 1>:1:2: error[syntax.invalid_utf8]"),
        (b'"\xed\xa0\x80"', "<input 1>:1:2: error[syntax.invalid_utf8]"),
        (b":type \xff", "<input 1>:1:7: error[syntax.invalid_utf8]"),
        (b"let rec f n = 1 + f(n)\nf(1)", "<input 1>:1:19: error[runtime.limit]"),
        (b'fail("no")', "<input 1>:1:1: error[runtime."),
        (b"(" * 2000, "<input 1>:1:1001: error[syntax.too_deep]"),
        (b"x" * 200_000, "<input 1>:1:1: error[type.unknown_variable]"),
        (b"1 " + b"+ 1 " * 50_000 + b"+ true", "<input 1>:1:"),
        (b":types 1", "unknown command `:types`: did you mean `:type`?"),
        (b":nope", "unknown command `:nope`: `:help` lists the commands"),
        (b":", "unknown command `:`"),
        (b":ev", "`:ev` may be :event or :events"),
        (b":type", "`:type EXPR`"),
        (b":type 1 +", "<type>:1:4: error[syntax."),
        (b":type let", "<type>:1:4: error[syntax."),
        (b":names all", "`:names` takes nothing after it"),
        (b":load /no/such/file", "cannot read /no/such/file: No such file or directory"),
        (b":load .", "cannot read .: Is a directory"),
        (b":load -", "standard input"),
        (b":load a\0b", "cannot read a"),
        (b":events ~no-such-user/x", "cannot read ~no-such-user/x"),
        (b":reload", "no file is loaded yet"),
        (b":surface modrator", "unknown surface modrator: did you mean `moderator`?"),
        (b":undo", "there is nothing to take back"),
        (b":event turn_start", "error[type.entry_point_missing]"),
        (b":step", "error[type.entry_point_missing]"),
        (b":state", "no conversation has begun"),
        (b":advance soon", "`:advance` takes a number of milliseconds"),
        (b":help nope", "unknown command `:nope`"),
        (b"exit", "help: commands begin with a colon: `:quit`, leave"),
        (b"help()", "help: commands begin with a colon: `:help [COMMAND]`, this text"),
    ],
)
def test_faults_are_reported_and_the_session_goes_on(repl: Repl, data: bytes, report: str) -> None:
    out, err, status = repl(data + b'\n:surface core\n"still here"\n')
    assert report in err
    assert out.endswith('- : string = "still here"\n')
    assert status == 1


def test_a_failed_input_leaves_nothing(repl: Repl) -> None:
    out, err, status = repl("let a = [1, 2]\nlet b = 1 a[0] <- 5 a[9]\na\nb\n")
    assert out == "a : int array = [1, 2]\n- : int array = [1, 2]\n"
    assert "unknown variable `b`" in err
    assert status == 1


def test_notes_point_into_earlier_inputs(repl: Repl) -> None:
    _, err, _ = repl("type t = int\ntype t = bool\n")
    assert "<input 2>:1:6: error[type.duplicate_type]" in err
    assert "╭ <input 1>:1:6" in err


def test_type_runs_nothing(repl: Repl) -> None:
    assert repl(':type print("x")\n:type fun x -> x + 1\n:type let f x = x\n') == (
        "unit\n(int -> int)\nf : (a -> a)\n",
        "",
        0,
    )


def test_undo_takes_back_writes_and_definitions(repl: Repl) -> None:
    text = 'let t = Hashtbl.create()\nlet a = [1]\nlet r = ref(1)\nHashtbl.set(t, "k", 1) a[0] <- 2 r := 3\n:undo\n'
    out, _, status = repl(text + 'Hashtbl.mem(t, "k")\na\n!r\n:undo\n:undo\n:undo\n:undo\nr\n')
    assert (
        'taken back: Hashtbl.set(t, "k", 1) a[0] <- 2 r := 3\n- : bool = false\n- : int array = [1]\n- : int = 1\n'
        in out
    )
    assert status == 1  # `r` is gone


def test_load_begins_anew_and_undo_leads_back(repl: Repl, tmp_path: Path) -> None:
    (tmp_path / "one.chatml").write_text('let one = 1\nprint("loading")\n', encoding="utf-8")
    (tmp_path / "bad.chatml").write_text("let one = 1 +", encoding="utf-8")
    out, err, _ = repl(
        "let x = 5\n:load one.chatml\none\n:load bad.chatml\none\nx\n:undo\n:undo\n:undo\nx\n", cwd=tmp_path
    )
    assert out == (
        "x : int = 5\nloading\none.chatml: 1 definition, surface core\n- : int = 1\n- : int = 1\n"
        "taken back: one\ntaken back: one\ntaken back: loading one.chatml\n- : int = 5\n"
    )
    assert "bad.chatml:1:14: error[syntax." in err
    assert "<input 4>:1:1: error[type.unknown_variable]" in err


def test_a_file_keeps_its_name_and_lines(repl: Repl, tmp_path: Path) -> None:
    (tmp_path / "lib.chatml").write_text("\nlet check n =\n  10 / n\n", encoding="utf-8")
    _, err, _ = repl("check(0)\n", "lib.chatml", cwd=tmp_path)
    assert err.startswith("lib.chatml:3:3: error[runtime.division_by_zero]")
    assert "check called at <input 1>:1:1" in err


def test_a_file_that_cannot_be_read_is_no_call(repl: Repl) -> None:
    assert repl("1\n", "/no/such/file") == ("", "chatml: cannot read /no/such/file: No such file or directory\n", 2)
    assert repl("1\n", "-")[2] == 2


def test_a_faulty_file_counts_as_an_input(repl: Repl, tmp_path: Path) -> None:
    (tmp_path / "bad.chatml").write_text("let one = true + 1", encoding="utf-8")
    out, err, status = repl("1 + 1\n", "bad.chatml", cwd=tmp_path)
    assert (out, status) == ("- : int = 2\n", 1)
    assert err.startswith("bad.chatml:1:11: error[type.mismatch]")


def test_a_document_can_be_loaded(repl: Repl, tmp_path: Path) -> None:
    (tmp_path / "agent.chatmd").write_text(
        f'<script language="chatml" kind="moderator">RAW|{POLICY}|RAW</script>\n', encoding="utf-8"
    )
    out, err, status = repl(":event turn_start\n", "agent.chatmd", cwd=tmp_path)
    assert out.startswith("agent.chatmd: 3 definitions, surface ui\nit is a moderator")
    assert (err, status) == ("", 0)


def test_surfaces(repl: Repl, policy: str) -> None:
    out, err, _ = repl(":surface\nItem.id\n:surface ui\nItem.id\n:undo\n:surface\n")
    assert out == "core\nsurface ui, nothing defined\n- : (item -> string)\ntaken back: Item.id\nui\n"
    assert "unknown module `Item`" in err
    assert repl(":surface\n", policy)[0].endswith("\nui\n")
    assert repl("Item.id\n", policy, "--surface", "core")[2] == 1


def test_a_moderator_runs_in_the_session(repl: Repl, policy: str) -> None:
    text = ":event turn_start\n:event `Turn_start\n!calls\n:state\n:event `Boom\n:state\n:undo\n:undo\n!calls\n:state\n"
    out, err, status = repl(text, policy)
    before, after = out.split("      at       ")
    place, source, carets, *rest = after.splitlines()
    assert (place, source.strip(), set(carets)) == (f"{policy}:7:14", '| `Boom -> fail("boom")', {" ", "^"})
    assert [*before.splitlines()[2:], *rest] == [
        "  1 ● turn_start",
        "      state    1",
        "  2 ● turn_start",
        "      state    2",
        "- : int = 2",
        "2",
        "  3 ✗ internal_event     `Boom failed",
        "      why      boom",
        "2",
        "taken back: the last event",
        "taken back: !calls",
        "- : int = 2",
        "2",
    ]
    assert (err, status) == ("", 1)


def test_undo_of_an_event_takes_back_its_writes(repl: Repl, policy: str) -> None:
    out, _, _ = repl(
        ":event turn_start\n:event turn_start\n:undo\n!calls\n:state\n:undo\n:undo\n:undo\n!calls\n", policy
    )
    assert out.splitlines()[6:] == [
        "taken back: the last event",
        "- : int = 1",
        "1",
        "taken back: !calls",
        "taken back: the last event",
        "taken back: the beginning of the conversation",
        "- : int = 0",
    ]


def test_a_new_handler_begins_anew(repl: Repl, policy: str) -> None:
    text = ":event turn_start\nlet on_event ctx st ev = Task.pure(st + 10)\n:event turn_start\n!calls\n:state\n"
    out, _, status = repl(text, policy)
    assert out.splitlines()[4:] == [
        "on_event : (a, int, b -> int task)",
        "the script has other entry points now: the conversation begins anew",
        "  1 ● turn_start",
        "      state    10",
        "- : int = 0",
        "10",
    ]
    assert status == 0


def test_a_scenario_step_by_step(repl: Repl) -> None:
    text = (
        ":events examples/policies/escalation.scenario.json5\n:step 2\n:answer no\n:undo\n:queue\n:overlay\n:effects\n"
        ":step all\n:history\n:step\n"
    )
    out, err, status = repl(text, "examples/policies/escalation.chatml")
    assert "\n10 events to come: `:step` delivers the next, `:step all` the rest\n" in out
    assert "  2 ◐ pre_tool_call" in out
    assert "taken back: the last event\nno internal event waits\nno change\n  1 Tool.approve()\n" in out
    assert "  9 ● pre_tool_call      deploy" in out
    assert "no event is to come" in err
    assert status == 1


@pytest.mark.parametrize(
    ("event", "report"),
    [
        ("`" + "A(" * 5000, "error[syntax."),
        ("turn_strat", "did you mean `turn_start`?"),
        ("{ phase: 'turn_start', x: 1 }", "unknown key"),
        ("{ phase: ", "error[scenario.syntax]"),
        ("`Tick(1 + 2)", "this is not data"),
        ("`Tick(", "error[syntax."),
        ("`Pre_tool_call({})", "write `:event { phase: 'pre_tool_call'"),
        ("[]x", "error[scenario."),
        ("\x00", "error[scenario."),
    ],
)
def test_faulty_events(repl: Repl, event: str, report: str, policy: str) -> None:
    out, err, status = repl(f":event {event}\n1\n", policy)
    assert report in err
    assert out.endswith("- : int = 1\n")
    assert status == 1


def test_undo_of_a_surface_is_whole(repl: Repl, tmp_path: Path) -> None:
    (tmp_path / "plain.chatml").write_text("let x = 1", encoding="utf-8")
    out, _, status = repl(":surface ui\n:undo\n:load plain.chatml\n", cwd=tmp_path)
    assert out.splitlines()[1:] == ["taken back: surface ui", "plain.chatml: 1 definition, surface core"]
    assert status == 0


def test_numbers_beyond_all_measure(repl: Repl, policy: str) -> None:
    digits = "9" * 5000
    _, err, status = repl(f":step {digits}\n:advance {digits}\n", policy)
    assert err.splitlines() == ["`:step` takes a number or all", "`:advance` takes a number of milliseconds"]
    assert status == 1


def test_the_name_of_a_command_may_be_that_of_a_variable(repl: Repl) -> None:
    assert repl("let state = 1\nstate") == ("state : int = 1\n- : int = 1\n", "", 0)


def test_names_are_those_of_types_and_definitions(repl: Repl) -> None:
    out, err, status = repl("type t = { a : int }\nlet x = 1\ntype u = int\n:undo\n:names")
    assert (out.splitlines()[4:], err, status) == (["type t = {a: int}", "x : int"], "", 0)


def test_quit_ends_the_session(repl: Repl) -> None:
    assert repl("1\n:quit\n2\n") == ("- : int = 1\n", "", 0)
    assert repl(":q\n2\n") == ("", "", 0)


def test_each_answer_comes_before_the_next_input_is_needed() -> None:
    """A program that talks to a session gets each answer once an empty line or a command follows."""
    with subprocess.Popen(
        [sys.executable, "-c", COMMANDS["chatml"], "repl"],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for sent, answered in (
            ("1 + 1\n\n", "- : int = 2\n"),
            (":type 1\n", "int\n"),
            ("let x =\n  3\n\n", "x : int = 3\n"),
        ):
            process.stdin.write(sent)
            process.stdin.flush()
            assert process.stdout.readline() == answered
        process.stdin.close()


def test_a_closed_pipe_is_no_crash() -> None:
    done = subprocess.run(
        ["bash", "-c", f'yes 1 | head -5000 | "{sys.executable}" -c "{COMMANDS["chatml"]}" repl | head -1'],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("- : int = 1\n", "")


def test_other_commands_do_not_load_it() -> None:
    program = (
        "import sys, chatml_tools.commands as c; c.main(['check', sys.argv[1]]); "
        "sys.exit('chatml_tools.workspace' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "examples/queue.chatml"], cwd=ROOT, env=environment(), check=False, timeout=60
    )
    assert done.returncode == 0
