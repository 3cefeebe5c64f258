"""What a host cannot do is told where a script names it, however it does (adapters.md 3.1)."""

from __future__ import annotations

import pytest

import chatml
from chatml.diagnostics.errors import CompileError
from chatml.types.guided import STANDARD

REASON = "a hook cannot redirect a call"
SURFACE = chatml.UI_MODERATOR.withhold(
    {"Tool.redirect": (REASON, "reject the call"), "Model.call": "no model is there"}
)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ('let go = Tool.redirect("a", `Null)', "Tool.redirect"),
        ('open Tool let go = redirect("a", `Null)', "redirect"),
        ('let go = let redirected = Tool.redirect in redirected("a", `Null)', "Tool.redirect"),
        ("let go = [Tool.redirect]", "Tool.redirect"),
        ('let tool = Tool let go = tool.redirect("a", `Null)', "tool.redirect"),
        ('module M = struct let inner u = Tool.redirect("a", `Null) end', "Tool.redirect"),
        ('let go = Model.call("a", `Null)', "Model.call"),
    ],
)
def test_a_withheld_export_is_told_where_it_is_named(source: str, told: str) -> None:
    (found,) = chatml.check(source, surface=SURFACE)
    assert found.code == "host.unsupported"
    assert found.severity == "error"
    assert found.span is not None
    assert found.span.text.startswith(told)
    with pytest.raises(CompileError) as raised:
        chatml.compile(source, surface=SURFACE)
    assert [str(diagnostic) for diagnostic in raised.value.diagnostics] == [str(found)]


def test_the_words_of_the_host() -> None:
    (found,) = chatml.check('let go = Tool.redirect("a", `Null)', surface=SURFACE)
    assert (found.message, found.help) == (REASON, "reject the call")
    (found,) = chatml.check('let go = Model.call("a", `Null)', surface=SURFACE)
    assert (found.message, found.help) == ("no model is there", "do without it, or run the policy in a host that can")


@pytest.mark.parametrize(
    "source",
    [
        'let go = Tool.call("redirect", `Null)',
        "module Tool = struct let redirect a b = a end let go = Tool.redirect(1, 2)",
        "let redirect = 1 let go = redirect",
        'let go = Model.call_text("a", "b")',
        "(* Tool.redirect *) let go = 1",
    ],
)
def test_what_is_not_withheld_is_fine(source: str) -> None:
    assert chatml.check(source, surface=SURFACE) == ()
    chatml.compile(source, surface=SURFACE).run()


def test_other_faults_come_first() -> None:
    found = chatml.check("let go = Tool.redirect(1, `Null)", surface=SURFACE)
    assert [diagnostic.code for diagnostic in found] == ["type.mismatch"]


def test_a_moderator_keeps_its_warnings() -> None:
    source = """let n = ref(0) let initial_state = 0
    let on_event ctx st ev = match ev with
      | `Turn_start -> let u = n := 1 in let* () = Tool.redirect("a", `Null) in Task.pure(st)
      | _ -> Task.pure(st)"""
    found = chatml.check(source, surface=SURFACE, entrypoints=STANDARD)
    assert [diagnostic.code for diagnostic in found] == [
        *("host.unsupported", "type.unused_binding", "durable.module_state", "type.misplaced_decision"),
    ]


def test_only_exports_can_be_withheld() -> None:
    for name in ("Tool.nothing", "Nothing.redirect", "print", "redirect"):
        with pytest.raises(KeyError):
            chatml.UI_MODERATOR.withhold({name: "why"})


def test_surfaces_that_are_combined_withhold_what_either_does() -> None:
    both = chatml.UI_MODERATOR.combine(chatml.MODERATOR.withhold({"Tool.spawn": "no jobs"}))
    (found,) = chatml.check('let go = Tool.spawn("a", `Null)', surface=both)
    assert found.message == "no jobs"


def test_a_script_may_have_a_type_of_the_name_of_a_reply() -> None:
    assert chatml.check("type reply = int let one : reply = 1", surface=chatml.UI_MODERATOR) == ()
