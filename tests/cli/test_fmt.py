"""`chatml fmt`: what it writes, lists and leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatml_tools.commands import main
from tests.house import run

LOOSE = "let f x=(x)\n\n\n\nprint(f(1)) (* é *)"
TIGHT = "let f x = x\n\nprint(f(1)) (* é *)\n"


def script(folder: Path, text: str, name: str = "script.chatml") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return path


def test_rewrites_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, LOOSE)
    path.chmod(0o640)
    assert main(["fmt", str(path)]) == 0
    assert capsys.readouterr() == (f"reformatted {path}\n1 file reformatted, 0 files unchanged\n", "")
    assert path.read_text(encoding="utf-8") == TIGHT
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_leaves_alone_what_is_formatted(tmp_path: Path) -> None:
    path = script(tmp_path, TIGHT)
    before = path.stat()
    assert main(["fmt", str(path)]) == 0
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_writes_through_a_link(tmp_path: Path) -> None:
    path = script(tmp_path, LOOSE)
    link = tmp_path / "link.chatml"
    link.symlink_to(path)
    assert main(["fmt", str(link)]) == 0
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == TIGHT


def test_check_lists_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loose, tight = script(tmp_path, LOOSE, "a.chatml"), script(tmp_path, TIGHT, "b.chatml")
    assert main(["fmt", "--check", str(loose), str(tight)]) == 1
    output = f"would reformat {loose}\n1 file would be reformatted, 1 file unchanged\n"
    assert capsys.readouterr() == (output, "")
    assert loose.read_text(encoding="utf-8") == LOOSE
    assert main(["fmt", "--check", str(tight)]) == 0


def test_standard_input() -> None:
    done = run("chatml", "fmt", "-", stdin=LOOSE)
    assert (done.returncode, done.stdout, done.stderr) == (0, TIGHT, "")
    done = run("chatml", "fmt", "--check", "-", stdin=LOOSE)
    assert (done.returncode, done.stdout, done.stderr) == (1, "would reformat -\n", "")


def test_an_error_leaves_the_file_and_the_others_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong, loose = script(tmp_path, "let f x = (", "wrong.chatml"), script(tmp_path, LOOSE)
    assert main(["fmt", str(wrong), str(loose)]) == 1
    output, report = capsys.readouterr()
    assert output == f"reformatted {loose}\n1 file reformatted, 0 files unchanged, 1 file with errors\n"
    assert report.startswith(f"{wrong}:1:12: error[syntax.")
    assert wrong.read_text(encoding="utf-8") == "let f x = ("


def test_what_cannot_be_formatted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", str(tmp_path / "no.chatml")]) == 2
    assert main(["fmt", "agent.chatmd"]) == 2
    assert "it is a document, not a script" in capsys.readouterr().err
