"""What does nothing is told (X-48): each warning, what it leaves alone, and its excuse."""

from __future__ import annotations

from pathlib import Path

import pytest

import chatml
from chatml.types.guided import STANDARD
from chatml_tools.commands import main
from chatml_tools.scripts import choose_surface
from tests.house import ROOT

HEAD = "let initial_state = 0\nlet on_event ctx st ev =\n  match ev with\n"
LAST = "\n  | _ -> Task.pure(st)\n"


def found(text: str) -> list[tuple[str, str]]:
    """The codes of the warnings, and the texts that they stand at."""
    diagnostics = chatml.check(text, surface=chatml.UI_MODERATOR, entrypoints=STANDARD)
    return [(each.code, each.span.text) for each in diagnostics if each.span is not None]


def arm(text: str) -> str:
    return f"{HEAD}  | {text}{LAST}"


TOLD = [
    (arm('`Pre_tool_call(c) -> Tool.reject("no"); Task.pure(st)'), "type.unused_task", 'Tool.reject("no")'),
    (arm('`Pre_tool_call(c) -> let x = Tool.reject("no") in Task.pure(st)'), "type.unused_task", 'Tool.reject("no")'),
    (arm('`Pre_tool_call(c) -> let _x = Tool.reject("no") in Task.pure(st)'), "type.unused_task", 'Tool.reject("no")'),
    ('Log.info("x")', "type.unused_task", 'Log.info("x")'),
    ('let _t = Log.info("x")', "type.unused_task", 'Log.info("x")'),
    ('let f c = while c do Log.info("x") done', "type.unused_task", 'Log.info("x")'),
    ("let xs = [1; 2; 3]", "type.unused_value", "1; 2; 3"),
    ("let f x = x + 1; x", "type.unused_value", "x + 1"),
    ("let f x = print; x", "type.unused_value", "print"),
    ("let f x = let y = x in x + 1", "type.unused_binding", "y"),
    ("let f x = let rec g n = g(n) in x + 1", "type.unused_binding", "g"),
    (arm("`Pre_tool_cal(c) -> Task.pure(st)"), "type.unknown_event", "`Pre_tool_cal(c)"),
    (arm("`PreToolCall(c) -> Task.pure(st)"), "type.unknown_event", "`PreToolCall(c)"),
    (arm("`PreToolUse(c) -> Task.pure(st)"), "type.unknown_event", "`PreToolUse(c)"),
    (arm("`Tick -> Task.pure(st)"), "type.unknown_event", "`Tick"),
    (arm("`Turn_start -> let* () = Tool.approve() in Task.pure(st)"), "type.misplaced_decision", "Tool.approve"),
    (
        HEAD + "  | `Pre_tool_call(c) -> Task.pure(st)\n  | _ -> let* () = Tool.approve() in Task.pure(st)",
        "type.misplaced_decision",
        "Tool.approve",
    ),
    (
        "let f a b =\n  match a with\n  | `A -> match b with\n    | `B -> 1\n  | _ -> 2",
        "type.swallowed_arm",
        "_",
    ),
    ('let n = String.length "abc"', "syntax.lone_argument", 'String.length "abc"'),
    ('print "abc"', "syntax.lone_argument", 'print "abc"'),
    (r'let s = "a\u200b"', "syntax.suspicious_escape", r"\u"),
    (r'let s = "\x41"', "syntax.suspicious_escape", r"\x"),
    (r'let s = "a\0"', "syntax.suspicious_escape", r"\0"),
    (r'let s = "a\r\n"', "syntax.suspicious_escape", r"\r"),
]


@pytest.mark.parametrize(("text", "code", "place"), TOLD, ids=[f"{code}: {place}" for _, code, place in TOLD])
def test_it_is_told(text: str, code: str, place: str) -> None:
    assert found(text) == [(code, place)]


LEFT_ALONE = [
    arm('`Pre_tool_call(c) -> let* () = Tool.reject("no") in Task.pure(st)'),
    arm('`Pre_tool_call(c) -> let t = Tool.reject("no") in let* () = t in Task.pure(st)'),
    'let later () = Log.info("x")',
    'let f x = print("a"); x',
    "let f x = let _y = x in x + 1",
    "let f x = let g = fun () -> x in g()",
    "let xs = [1, 2, 3]",
    'let xs = [(print("a"); 1)]',
    arm("`Tick -> let* _id = Schedule.after_ms(5, `Tick) in Task.pure(st)"),
    arm("`Tool_job_failed(id, tool, why) -> Task.pure(st)"),
    arm("`Pre_tool_call(c) -> let* () = Tool.approve() in Task.pure(st)"),
    HEAD + "  | `Turn_start -> Task.pure(st)\n  | _ -> let* () = Tool.approve() in Task.pure(st)",
    "module Tool = struct let approve () = Task.pure(()) end\n"
    + arm("`Turn_start -> let* () = Tool.approve() in Task.pure(st)"),
    "let f a b =\n  match a with\n  | `A -> (match b with\n    | `B -> 1\n    | _ -> 3)\n  | _ -> 2",
    "let f a b =\n  match a with\n  | `C -> 2\n  | `A -> match b with\n    | `B -> 1\n    | _ -> 3",
    "let f x = x\nlet y = f\nprint(y(1))",
    r'let s = "\d+\.\\x41"',
    r'let s = "{\"a\": \"\u00e9\"}"',
    r'let ok = Text.matches("a", "\x41")',
]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_it_is_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.chatml")), ids=lambda path: path.name)
def test_the_examples_are_free_of_warnings(path: Path) -> None:
    source = chatml.Source(path.name, path.read_text(encoding="utf-8"))
    assert chatml.check(source, surface=choose_surface(None, source), entrypoints=STANDARD) == ()


def test_an_event_is_told_by_its_other_names() -> None:
    (warning,) = chatml.check(arm("`UserPromptSubmit -> Task.pure(st)"), surface=chatml.MODERATOR, entrypoints=STANDARD)
    assert warning.help == "did you mean `Turn_start?"


def test_an_arm_that_fell_into_an_inner_match_is_told_its_cure() -> None:
    text = "let f a b =\n  match a with\n  | 1 -> match b with\n    | 1 -> 1\n    | _ -> 3\n  | _ -> 2"
    (error,) = chatml.check(text)
    assert (error.code, error.severity) == ("type.redundant_arm", "error")
    assert "put the match of line 3 in parentheses" in str(error)


# Excuses


@pytest.mark.parametrize(
    "text",
    [
        "let f x = (1; x) (* allow type.unused_value: to see *)",
        "(* allow type.unused_value: to see *)\nlet f x = (1; x)",
    ],
)
def test_a_line_is_excused(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("let f x = x (* allow type.unused_value: why *)", ["syntax.unused_excuse"]),
        ("(* allow type.unused_value: why *)\n\nlet f x = (1; x)", ["syntax.unused_excuse", "type.unused_value"]),
        ("let f x = (1; x) (* allow type.unused_value *)", ["type.unused_value"]),
        ("let f x = (1; x) (* allow type.unused_task: why *)", ["type.unused_value", "syntax.unused_excuse"]),
        ('let s = "(* allow type.unused_value: why *)"', []),
        ("let x = 1 (* allow portable.not: others know it *)", []),
    ],
)
def test_an_excuse_that_excuses_nothing_is_told(text: str, codes: list[str]) -> None:
    assert [code for code, _ in found(text)] == codes


# Commands


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.chatml").write_text(arm('`Pre_tool_call(c) -> Tool.reject("no"); Task.pure(st)'), encoding="utf-8")
    scenario = "{ events: [{ phase: 'turn_start' }], expect: [{}] }"
    (tmp_path / "p.scenario.json5").write_text(scenario, encoding="utf-8")
    (tmp_path / "t.json").write_text('[{"type": "message", "role": "user", "content": "x"}]', encoding="utf-8")
    return "p.chatml"


@pytest.mark.parametrize(
    "words", ["check p.chatml", "run p.chatml --events p.scenario.json5", "test .", "replay p.chatml t.json"]
)
def test_every_command_warns_and_strict_refuses(words: str, policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 0
    assert "warning[type.unused_task]: this task is never run" in capsys.readouterr().err
    assert main([*words.split(), "--strict"]) == 1
    assert "error[type.unused_task]" in capsys.readouterr().err
