"""Documents as files: what is read, what is refused, the meta-refine switch (M-061), loads side by side."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chatmd import LoadLimits, Refiner, check, dumps, load_file
from chatmd.elements.message import Message
from tests.chatmd.documents import findings, load, place, write

MARKED = "<!-- META_REFINE --><user>x</user>"


def test_a_file_is_loaded_under_its_name_and_shown_under_its_path(tmp_path: Path) -> None:
    write(tmp_path, a__p_chatmd="<user>x</user>", a__bad_chatmd="\n text")
    document = load_file(tmp_path / "a" / "p.chatmd")
    assert document.root is not None
    assert (document.root.file, document.root.prompt_dir) == ("p.chatmd", str(tmp_path / "a"))
    assert document.root.path == str(tmp_path / "a" / "p.chatmd")
    (diagnostic,) = findings(lambda: load_file(tmp_path / "a" / "bad.chatmd"))
    assert place(diagnostic)[0] == str(tmp_path / "a" / "bad.chatmd")
    assert str(diagnostic).startswith(f"{tmp_path}/a/bad.chatmd:2:2: error[chatmd.top_level_text]")


@pytest.mark.parametrize("name", ["gone", "folder", "pipe", "device", "nul\0"])
def test_what_is_no_document_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    begin = time.monotonic()
    (diagnostic,) = check(tmp_path / name)
    assert (diagnostic.code, diagnostic.span) == ("chatmd.document_unavailable", None)
    assert time.monotonic() - begin < 1


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    write(tmp_path, p_chatmd="x" * 101)
    (diagnostic,) = findings(lambda: load_file(tmp_path / "p.chatmd", limits=LoadLimits(file_bytes=100)))
    assert "100 bytes" in diagnostic.message


def test_check_reports_warnings_and_tools(tmp_path: Path) -> None:
    write(tmp_path, p_chatmd='<doc src="x"/><tool name="x"/>')
    assert [one.code for one in check(tmp_path / "p.chatmd")] == [
        "chatmd.ignored_top_level",
        "tool.unknown_builtin",
    ]


def test_the_last_moderator_runtime_counts() -> None:
    document = load('<moderator_runtime shell_runtime="a"/><moderator_runtime shell_runtime="b"/>')
    (warning,) = document.warnings
    assert (warning.code, place(warning)[1]) == ("chatmd.duplicate_moderator_runtime", 0)


def test_m_061_the_switch_refines_the_root_once(tmp_path: Path) -> None:
    write(tmp_path, i_md=MARKED)
    asked: list[str] = []

    def refine(text: str) -> str:
        asked.append(text)
        return text.replace("x", "y")

    document = load(MARKED + "<user><import src='i.md'/></user>", tmp_path, refine=refine)
    first, second = (one.content for one in document.elements if isinstance(one, Message))
    assert (first, second) == ("y", None)
    assert asked == [MARKED + "<user><import src='i.md'/></user>"]
    assert load(MARKED) == load("<user>x</user>")


@pytest.mark.parametrize("variable", ["CHATML_META_REFINE", "OCHAT_META_REFINE"])
@pytest.mark.parametrize(
    ("value", "refined"), [("YES", True), ("1", True), ("on", True), ("2", False), ("", False), ("false", False)]
)
def test_m_061_either_variable_switches_it_on(variable: str, value: str, refined: bool) -> None:
    document = load("<user>x</user>", refine=lambda text: text.replace("x", "y"), environment={variable: value})
    assert document == load("<user>y</user>" if refined else "<user>x</user>")


def test_a_refiner_keeps_the_best_and_survives_failures() -> None:
    scores = {"a": 1.0, "ab": 3.0, "abb": 2.0}
    refiner = Refiner(propose=lambda text: text + "b", score=lambda text: scores[text], rounds=2)
    assert refiner("a") == "ab\n<!-- refined: 1 rounds -->"
    assert Refiner(propose=lambda text: text + "b", score=lambda text: scores[text], rounds=9)("ab") == "ab"

    def fail(text: str) -> str:
        raise OSError("no credentials")

    assert Refiner(propose=fail, score=len)("<user/>") == "<user/>"


def test_loads_do_not_disturb_each_other(tmp_path: Path) -> None:
    write(tmp_path, a_md="a <b>", m_chatml="1")
    script = '<script language="chatml" kind="moderator" src="m.chatml"/>'
    texts = [
        '<shell_access id="s"><limits stdout="4KiB"/></shell_access>' * (n % 2)
        + f'<user name="{n}"><set/><import src="a.md"/></user>'
        + script * (n % 3 == 0)
        for n in range(60)
    ]
    alone = [dumps(load(text, tmp_path)) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: dumps(load(text, tmp_path)), texts * 3))
    assert together == alone * 3
