"""A mistake in a moderator is reported where it was made (X-47): the host's types are known in every command."""

from __future__ import annotations

from pathlib import Path

import pytest

import chatml
from chatml.types.guided import STANDARD
from chatml_tools.commands import main
from chatml_tools.navigation import Analysis, Preceding

HEAD = "type state = { count : int }\nlet initial_state = { count = 0 }\nlet on_event ctx st ev =\n  match ev with\n"
LAST = "\n  | _ -> Task.pure(st)\n"


def found(text: str) -> tuple[chatml.Diagnostic, ...]:
    return chatml.check(text, surface=chatml.UI_MODERATOR, entrypoints=STANDARD)


MISTAKES = [
    ("| `Pre_tool_call(call) -> print(call.args.path); Task.pure(st)", "call.args.path", "Tool_call.arg_string(call"),
    ('| `Pre_tool_call(call) -> print(call.name.startswith("x")); Task.pure(st)', "call.name", "String.starts_with"),
    ("| `Pre_tool_call(call) -> print(call.tool_nam); Task.pure(st)", "call.tool_nam", "no field `tool_nam`"),
    ("| `Post_tool_response(r) -> print(r.id); Task.pure(st)", "r.id", "`call_id`"),
    ("| `Turn_start -> print(ctx.nw_ms); Task.pure(st)", "ctx.nw_ms", "did you mean `now_ms`"),
    ("| `Turn_start -> Task.pure({ st with cuont = 1 })", "cuont", "did you mean `count`"),
    ("| `Turn_start -> let next = { st with cuont = 1 } in Task.pure(next)", "cuont", "did you mean `count`"),
    ("| `Turn_start -> let n = st.cuont in Task.pure({ st with count = n })", "st.cuont", "did you mean `count`"),
    ("| `Turn_start -> Task.pure({ total = 1 })", "Task.pure({ total", "lacks the field `count`"),
    ("| `Turn_start -> Task.pure({ })", "Task.pure({ })", "lacks the field `count`"),
    ("| `Turn_start -> st", "st", "Task.pure(st)"),
    ('| `Turn_start -> let* () = Log.info("x") in st', "st", "Task.pure(st)"),
    ('| `Turn_start -> let+ () = Log.info("x") in Task.pure(st)', "Task.pure(st)", "`let*` for `let+`"),
    ("| `Pre_tool_call(c) -> Tool.approve()", "Tool.approve()", "let+ () = Tool.approve() in st"),
    ('| `Pre_tool_call(c) -> if c.name == "x" then Tool.approve() else Task.pure(st)', "Tool.approve()", "gives unit"),
    ('| `Turn_start -> print("x")', 'print("x")', "nothing but unit"),
    ('| `Turn_start -> Task.pure("x")', 'Task.pure("x")', "a string here, and the state is a state"),
]


@pytest.mark.parametrize(("arm", "place", "said"), MISTAKES, ids=[arm for arm, _, _ in MISTAKES])
def test_a_mistake_is_told_where_it_was_made(arm: str, place: str, said: str) -> None:
    (diagnostic,) = found(f"{HEAD}  {arm}{LAST}")
    assert diagnostic.span is not None
    assert diagnostic.span.start.line == 5
    assert diagnostic.span.text.startswith(place)
    assert said in str(diagnostic)
    for internal in ("__builtin", "'rec", "mu "):
        assert internal not in str(diagnostic)


def test_each_arm_at_fault_is_told() -> None:
    arms = "  | `Turn_start -> st\n  | `Turn_end -> Tool.approve()\n  | `Item_appended(i) -> Task.pure(st)"
    assert [each.span.start.line for each in found(HEAD + arms + LAST) if each.span] == [5, 6]


def test_two_updates_of_unlike_fields_name_the_state() -> None:
    """Plain inference finds a record without end there; the state's type says which fields there are."""
    arms = "  | `Turn_start -> Task.pure({ st with a = 1 })\n  | `Turn_end -> Task.pure({ st with b = 1 })"
    assert [each.code for each in found(HEAD + arms + LAST)] == ["type.extra_field", "type.extra_field"]


def test_a_handler_of_two_parameters_is_told_its_own() -> None:
    (diagnostic,) = found("let initial_state = 0\nlet on_event ctx ev = Task.pure(1)")
    assert "it has 2: `ctx`, `ev`" in diagnostic.message


@pytest.mark.parametrize("text", ["let initial_state = 0\n", "let on_event ctx st ev = Task.pure(st)\n"])
def test_check_misses_an_entry_point(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "p.chatml"
    script.write_text(text, encoding="utf-8")
    assert main(["check", str(script)]) == 1
    assert "type.entry_point_missing" in capsys.readouterr().err


def test_check_warns_of_unmatched_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "p.chatml"
    script.write_text(HEAD + "  | `Turn_start -> Task.pure(st)\n", encoding="utf-8")
    assert main(["check", str(script)]) == 0
    assert "warning[type.unmatched_events]" in capsys.readouterr().err


def test_aliases_annotate_a_handler() -> None:
    text = (
        "type state = { count : int }\nlet initial_state : state = { count = 0 }\n"
        "let on_job : job_event -> string = fun ev -> match ev with\n"
        '  | `Tool_job_failed(id, tool, why) -> why | _ -> ""\n'
        "let on_event : context -> state -> event -> state task = fun ctx st ev ->\n"
        "  match ev with | `Pre_tool_call(call) -> print(call.name); Task.pure(st) | _ -> Task.pure(st)"
    )
    assert found(text) == ()


def test_a_script_may_declare_the_new_aliases_itself() -> None:
    """They came later than the scripts that have their own; twice is still once too often."""
    assert found("type event = [ `Tick ]  type job_event = int") == ()
    (again,) = found("type event = [ `Tick ]  type event = int")
    assert again.code == "type.duplicate_type"


def test_without_entry_points_the_library_holds_nothing_to_the_contract() -> None:
    assert chatml.check("let initial_state = 0", surface=chatml.UI_MODERATOR) == ()


# In editors


def completed(text: str) -> list[str]:
    return [each.text for each in Preceding(chatml.UI_MODERATOR).complete(text, len(text))]


@pytest.mark.parametrize(
    ("end", "fields"),
    [
        ("| `Pre_tool_call(call) -> if call.", ["args", "id", "name"]),
        ("| `Post_tool_response(r) -> print(r.", ["call_id", "name", "result"]),
        ("| `Turn_start -> print(ctx.", ["available_tools", "items", "now_ms", "phase", "session_id", "session_meta"]),
        ("| `Turn_start -> Task.pure({ st with ", ["count"]),
        ("| `Turn_start -> print(st.", ["count"]),
        ("| `Pre", ["`Pre_tool_call"]),
    ],
)
def test_completion_knows_what_the_host_hands_over(end: str, fields: list[str]) -> None:
    assert completed(f"{HEAD}  {end}") == fields


def test_events_are_offered_first_in_a_pattern() -> None:
    assert completed(f"{HEAD}  | `")[:3] == ["`Session_start", "`Session_resume", "`Turn_start"]


def test_hover_knows_what_the_host_hands_over() -> None:
    text = f"{HEAD}  | `Pre_tool_call(call) -> Task.pure(st){LAST}"
    analysis = Analysis(chatml.Source("s", text), chatml.UI_MODERATOR)
    told = [analysis.describe(text.index(at)) for at in ("ctx", "st ev", "ev =", "call)")]
    assert [sight.text for sight in told if sight] == [
        *("ctx : context", "st : state", "ev : [`Pre_tool_call(tool_call) | ...]", "call : tool_call")
    ]
    assert analysis.diagnostics == ()
