"""Imports: the cases M-051 to M-057, and the bounds and the confinement of what they read."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from chatmd.elements.message import Message
from chatmd.elements.script import ModeratorScript
from chatmd.shell.access import ShellAccess
from chatmd.sources.source import LoadLimits
from tests.chatmd.documents import finding, load, place, write


def contents(text: str, base_dir: Path) -> list[object]:
    return [element.content for element in load(text, base_dir).elements if isinstance(element, Message)]


def test_m_051_a_body_takes_in_text(tmp_path: Path) -> None:
    write(tmp_path, policy_md="Be <b>kind</b>.\n")
    text = '<system>\n<import src="policy.md"/>\n</system>'
    assert contents(text, tmp_path) == ["\nBe <b>kind</b>.\n\n"]


def test_m_052_the_top_level_does_not(tmp_path: Path) -> None:
    write(tmp_path, policy_md="Be <b>kind</b>.\n")
    diagnostic = finding('<import src="policy.md"/>', tmp_path)
    assert diagnostic.code == "chatmd.top_level_text"
    assert diagnostic.source is not None
    assert diagnostic.source.file == "policy.md"
    assert place(diagnostic) == ("policy.md", 0, "Be ")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('<assistant>see <import src="q.md" x/></assistant>', 'see <import src="q.md" x=""/>'),
        ('<msg role="USER"><import src="q.md"/></msg>', '<import src="q.md"/>'),
        ('<msg role="tool"><import src="q.md"/>!</msg>', '<import src="q.md"/>!'),
        ("<tool_response tool_call_id='c'>a<import>b</import></tool_response>", "a<import />"),
    ],
)
def test_m_053_elsewhere_an_import_is_text(text: str, content: str, tmp_path: Path) -> None:
    (element,) = load(text, tmp_path).elements
    assert getattr(element, "content", None) == content


def test_m_054_paths_are_relative_to_the_importing_file(tmp_path: Path) -> None:
    write(tmp_path, a__one_chatmd='<user><import src="../b/two.md"/></user>', b__two_md="two")
    (message,) = load('<import src="a/one.chatmd"/>', tmp_path).elements
    assert isinstance(message, Message)
    assert (message.content, message.source_context) == ("two", "a/one.chatmd")


def test_m_055_cycles_are_found_and_repetition_is_legal(tmp_path: Path) -> None:
    write(
        tmp_path,
        root_chatmd='<import src="d/child.chatmd"/>',
        d__child_chatmd='<import src="../root.chatmd"/>',
        text_md="x",
    )
    text = (tmp_path / "root.chatmd").read_text()
    diagnostic = finding(text, tmp_path, source="root.chatmd")
    assert diagnostic.code == "chatmd.import_cycle"
    assert diagnostic.data["route"] == "root.chatmd -> d/child.chatmd -> ../root.chatmd"
    assert place(diagnostic)[0] == "d/child.chatmd"
    assert contents('<user><import src="text.md"/><import src="./text.md"/></user>', tmp_path) == ["xx"]


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ('<import src="a" namespace="t"/><import src="b" namespace="t"/>', "duplicate_namespace", "t"),
        ('<import src="a" namespace="9x"/>', "invalid_namespace", "9x"),
        ('<import src="a"/><import src="a" namespace="t.\u00e4"/>', "invalid_namespace", "t.\u00e4"),
        ('<import namespace="n"/>', "missing_src", '<import namespace="n"/>'),
        ('<import src=""/>', "invalid_attribute", "src"),
        ("<import src/>", "invalid_attribute", "src"),
        ('<import src="a" namespace/>', "invalid_attribute", "namespace"),
        ('<import src="a" x/>', "unknown_attribute", "x"),
        ('<import src="a" src="b"/>', "duplicate_attribute", "src"),
        ('<import src="missing"/>', "unavailable", "missing"),
        ('<import src="a\0b"/>', "unavailable", "a\0b"),
        ('<user><agent src="s"><import src="missing"/></agent></user>', "unavailable", "missing"),
    ],
)
def test_m_056_an_import_is_written_as_it_must_be(text: str, code: str, at: str, tmp_path: Path) -> None:
    write(tmp_path, a_="<user/>")
    (tmp_path / "a.").rename(tmp_path / "a")
    diagnostic = finding(text, tmp_path)
    assert diagnostic.code == f"chatmd.import_{code}"
    assert place(diagnostic)[2] == (at or text)


def test_m_056_local_is_ignored_with_a_warning(tmp_path: Path) -> None:
    write(tmp_path, a_md="<user/>")
    for flag in ("local", 'local="false"'):
        document = load(f'<import src="a.md" {flag}/>', tmp_path)
        assert document == load('<import src="a.md"/>', tmp_path)
        (warning,) = document.warnings
        assert (warning.code, warning.severity) == ("chatmd.import_local_ignored", "warning")


def test_m_057_a_namespace_qualifies_declarations(tmp_path: Path) -> None:
    script = '<script language="chatml" kind="shell_matcher" id="m">1</script>'
    write(tmp_path, outer_chatmd=f'<import src="inner.chatmd" namespace="sub"/>{script}', inner_chatmd=script)
    document = load('<import src="outer.chatmd" namespace="team"/>', tmp_path)
    assert [one.id for one in document.scripts] == ["team:sub:m", "team:m"]
    inner, outer = (one.source_record for one in document.scripts)
    assert inner is not None
    assert outer is not None
    assert (inner.namespace, outer.namespace) == ("team:sub", "team")
    assert inner.qualified("builtin:yolo") == "builtin:yolo"


def test_imported_elements_take_the_place_of_the_import(tmp_path: Path) -> None:
    write(tmp_path, config_chatmd="<config model='in'/>")
    document = load("<user/><import src='config.chatmd'/><config model='out'/>", tmp_path)
    assert document.config.model == "in"


def test_faults_of_imports_come_before_those_of_elements(tmp_path: Path) -> None:
    assert finding("<config max_tokens='x'/><import src='missing'/>", tmp_path).code == ("chatmd.import_unavailable")


def test_a_script_of_an_import_is_beside_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        lib__x_chatmd='<script language="chatml" kind="moderator" src="m.chatml"/>',
        lib__m_chatml="let x = 1",
    )
    document = load('<import src="lib/x.chatmd"/>', tmp_path)
    moderator = document.moderator
    assert isinstance(moderator, ModeratorScript)
    assert moderator.text == "let x = 1"
    span = moderator.place(4, 5)
    assert (span.source.name, span.left, span.text) == ("lib/m.chatml", 4, "x")


def test_chains_are_bounded(tmp_path: Path) -> None:
    for index in range(130):
        (tmp_path / f"f{index}").write_text(f'<import src="f{index + 1}"/>')
    (tmp_path / "f130").write_text("<user/>")
    diagnostic = finding('<import src="f0"/>', tmp_path)
    assert diagnostic.code == "chatmd.import_too_deep"
    assert place(diagnostic) == ("f127", 13, "f128")
    assert len(load('<import src="f3"/>', tmp_path).elements) == 1


@pytest.mark.parametrize("body", ["<user/>", "<user>" + "x" * 5000 + "</user>"])
def test_an_import_bomb_ends(body: str, tmp_path: Path) -> None:
    for index in range(30):
        (tmp_path / f"f{index}").write_text(f'<import src="f{index + 1}"/><import src="f{index + 1}"/>')
    (tmp_path / "f30").write_text(body)
    begin = time.process_time()
    diagnostic = finding('<import src="f0"/>', tmp_path)
    assert diagnostic.code == "chatmd.import_too_large"
    assert time.process_time() - begin < 5


def test_imported_characters_are_bounded(tmp_path: Path) -> None:
    write(tmp_path, a_md="x" * 100)
    text = "<user>" + '<import src="a.md"/>' * 11 + "</user>"
    diagnostic = finding(text, tmp_path, limits=LoadLimits(import_chars=1000))
    assert (diagnostic.code, diagnostic.data["limit"]) == ("chatmd.import_too_large", "1000 characters")
    assert place(diagnostic)[1] == 6 + 20 * 10 + len('<import src="')


def test_a_deep_site_expands(tmp_path: Path) -> None:
    write(tmp_path, a_md="x")
    deep = "<user>" + '<agent src="s">' * 5000 + '<import src="a.md"/>' + "</agent>" * 5000 + "</user>"
    assert load(deep, tmp_path) == load(deep.replace('<import src="a.md"/>', "x"), tmp_path)


@pytest.mark.parametrize("name", ["pipe", "directory", "device", "loop", "gone"])
def test_what_is_no_regular_file_is_refused(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("nowhere")
    begin = time.monotonic()
    assert finding(f'<import src="{name}"/>', tmp_path).code == "chatmd.import_unavailable"
    assert time.monotonic() - begin < 1


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    write(tmp_path, a_md="x" * 1001)
    diagnostic = finding('<user><import src="a.md"/></user>', tmp_path, limits=LoadLimits(file_bytes=1000))
    assert "1000 bytes" in diagnostic.message


@pytest.mark.parametrize(
    ("src", "code"),
    [
        ("../outside.md", "chatmd.artifact_path_escape"),
        ("sub/../../outside.md", "chatmd.artifact_path_escape"),
        ("..\\outside.md", "chatmd.artifact_path_escape"),
        ("link.md", "chatmd.artifact_path_escape"),
        ("linked/outside.md", "chatmd.artifact_path_escape"),
        ("missing.md", "chatmd.artifact_missing"),
        ("/etc/hostname", "chatmd.artifact_absolute_path"),
        ("C:\\x", "chatmd.artifact_absolute_path"),
        ("a\0b", "chatmd.artifact_missing"),
    ],
)
def test_a_confined_load_never_leaves_its_directory(src: str, code: str, tmp_path: Path) -> None:
    write(tmp_path, outside_md="secret", in__x_md="x")
    base = tmp_path / "in"
    (base / "link.md").symlink_to(tmp_path / "outside.md")
    (base / "linked").symlink_to(tmp_path)
    (base / "good.md").symlink_to(base / "x.md")
    text = f"<user><import src='{src}'/></user>"
    assert finding(text, base, confined=True).code == code
    script = f'<script language="chatml" kind="moderator" src="{src}"/>'.replace("\\", "&#92;")
    if "&" not in script:
        assert finding(script, base, confined=True).code == code
    assert load('<user><import src="sub/../good.md"/></user>', base, confined=True).elements


def test_shell_declarations_of_imports_are_placed_in_their_files(tmp_path: Path) -> None:
    write(tmp_path, a__s_chatmd='\n<shell_access id="s"/>')
    (element,) = load('<import src="a/s.chatmd"/>', tmp_path, source="root.chatmd").elements
    assert isinstance(element, ShellAccess)
    assert element.span is not None
    assert element.span.source.name == "a/s.chatmd"
