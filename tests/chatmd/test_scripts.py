"""Scripts: the cases M-058 to M-060, where their characters stand, and the registry check."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatmd.elements.script import Inline, ScriptLimits, Src
from tests.chatmd.documents import finding, findings, load, place, write

HEAD = '<script language="chatml" kind="moderator"'


def test_m_058_a_script_file_is_read_and_kept(tmp_path: Path) -> None:
    write(tmp_path, lib__x_chatmd=f'{HEAD} src="m.chatml"/>', lib__m_chatml="let x = 1")
    document = load('<import src="lib/x.chatmd"/>', tmp_path)
    (script,) = document.scripts
    assert (script.id, script.kind, script.text) == ("main", "moderator", "let x = 1")
    assert isinstance(script.source, Src)
    assert (script.source.path, script.source.from_root) == ("m.chatml", "lib/m.chatml")
    assert document.moderator is script


def test_m_059_two_default_moderators_give_both_findings() -> None:
    both = findings(lambda: load(f"{HEAD}>1</script>{HEAD}>2</script>"))
    assert [(one.code, one.path) for one in both] == [
        ("chatmd.multiple_moderators", ("script",)),
        ("chatmd.duplicate_script", ("script", "main")),
    ]
    assert all(place(one)[1] == len(f"{HEAD}>1</script>") for one in both)
    (one,) = findings(
        lambda: load(f'{HEAD}>1</script><script language="chatml" kind="shell_matcher" id="main">2</script>')
    )
    assert one.code == "chatmd.duplicate_script"


@pytest.mark.parametrize(
    ("text", "code", "path", "at"),
    [
        ('<script language="python" kind="moderator">1</script>', "script_invalid_language", "language", "python"),
        ('<script kind="moderator">1</script>', "script_invalid_language", "language", '<script kind="moderator">'),
        ('<script language="chatml" kind="worker">1</script>', "script_invalid_kind", "kind", "worker"),
        (
            '<script language="chatml" kind="shell_matcher">1</script>',
            "script_id_required",
            "id",
            '<script language="chatml" kind="shell_matcher">',
        ),
        (f'{HEAD} src="m.chatml">1</script>', "script_conflicting_source", "", "m.chatml"),
        (f"{HEAD}> \n</script>", "script_empty_source", "", f"{HEAD}>"),
        (f'{HEAD} src=" "/>', "script_empty_source", "src", " "),
        (f'{HEAD} src="gone.chatml"/>', "script_source_unavailable", "src", "gone.chatml"),
        (f'{HEAD} id=" ">1</script>', "script_invalid_id", "id", " "),
        (f'{HEAD} fuel="0">1</script>', "script_invalid_limit", "fuel", "0"),
        (f'{HEAD} wall_time="5">1</script>', "script_invalid_limit", "wall_time", "5"),
        (f'{HEAD} max_value="1kb">1</script>', "script_invalid_limit", "max_value", "1kb"),
    ],
)
def test_m_060_each_rule_has_its_code(text: str, code: str, path: str, at: str, tmp_path: Path) -> None:
    write(tmp_path, m_chatml="1")
    diagnostic = finding(text, tmp_path)
    assert diagnostic.code == f"chatmd.{code}"
    assert diagnostic.path == (("script", path) if path else ("script",))
    assert place(diagnostic)[2] == at


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        (f'{HEAD} extra="1">1</script>', "shell.unknown_attribute", "extra"),
        (f'{HEAD} kind="moderator">1</script>', "shell.duplicate_attribute", "kind"),
        (f"{HEAD} id>1</script>", "shell.attribute_value_required", "id"),
    ],
)
def test_m_060_scripts_are_strict(text: str, code: str, at: str) -> None:
    diagnostic = finding(text)
    assert (diagnostic.code, place(diagnostic)[2]) == (code, at)
    assert diagnostic.path[0] == "script"


def test_m_060_a_blank_body_beside_a_file_is_absent(tmp_path: Path) -> None:
    write(tmp_path, m_chatml="1")
    assert load(f'{HEAD} src="m.chatml"> \n </script>', tmp_path).scripts[0].text == "1"


def test_limits_are_read() -> None:
    (script,) = load(f'{HEAD} wall_time="250ms" fuel="5" max_output="1KiB">1</script>').scripts
    assert script.limits == ScriptLimits(wall_time=0.25, fuel=5, max_output=1024)


def test_a_body_is_its_text_and_elements_in_it_are_not_source() -> None:
    document = load(f"{HEAD}>a <b> <user>x</user>RAW|<user>|RAW <import src='q'/></script>")
    (script,) = document.scripts
    assert script.text == 'a <b> <user> <import src="q"/>'
    assert [warning.code for warning in document.warnings] == ["chatmd.ignored_child"]
    assert isinstance(script.source, Inline)


def test_every_character_of_an_inline_script_knows_its_place() -> None:
    text = f"<user/>\n{HEAD}>\nlet a = 1<!-- c -->\nRAW|let b = a < 2|RAW\n</script>"
    (script,) = load(text, source="p.chatmd").scripts
    assert script.text == "\nlet a = 1let b = a < 2\n"
    for index, character in enumerate(script.text):
        span = script.place(index, index + 1)
        assert (span.source.name, span.text) == ("p.chatmd", character)
    assert script.place(10, 15).text == "let b"
    empty = script.place(len(script.text), len(script.text))
    assert (empty.left, empty.right) == (text.index("</script>"), text.index("</script>"))


def test_a_script_file_is_strict_utf_8(tmp_path: Path) -> None:
    (tmp_path / "bad.chatml").write_bytes(b"let \xc3\xa4 =\n\xff")
    diagnostic = finding(f'{HEAD} src="bad.chatml"/>', tmp_path)
    assert diagnostic.code == "chatmd.script_source_unavailable"
    assert diagnostic.span is not None
    assert diagnostic.span.source.name == "bad.chatml"
    assert diagnostic.span.start == (2, 0, 8)
    (label,) = diagnostic.labels
    assert label.span.text == "bad.chatml"
    (tmp_path / "mark.chatml").write_bytes(b"\xef\xbb\xbflet x = 1")
    assert load(f'{HEAD} src="mark.chatml"/>', tmp_path).scripts[0].text == "let x = 1"


def test_script_files_compare_by_where_they_lead(tmp_path: Path) -> None:
    write(tmp_path, lib__x_chatmd=f'{HEAD} src="m.chatml"/>', lib__m_chatml="1", m_chatml="1")
    imported = load('<import src="lib/x.chatmd"/>', tmp_path)
    assert imported == load(f'{HEAD} src="./lib/../lib/m.chatml"/>', tmp_path)
    assert imported != load(f'{HEAD} src="m.chatml"/>', tmp_path)
