"""From names to files: what is found, what is refused, and what a swapped file is called (S-025, S-029)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml_shell.errors import Refusal
from chatml_shell.resolver import files
from chatml_shell.resolver.files import ChangedWhileReading, canonical, fingerprint, is_system, within
from chatml_shell.resolver.resolve import Alias, Resolver, pin, verify


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def resolver(*search_path: Path | str, **aliases: Alias) -> Resolver:
    return Resolver(aliases, tuple(map(str, search_path)), ())


def refused(call: Callable[[], object], code: str = "resolution_error") -> str:
    with pytest.raises(Refusal) as caught:
        call()
    assert caught.value.code == code
    return caught.value.reason


def test_the_first_entry_of_the_search_path_is_the_hit(tmp_path: Path) -> None:
    program(tmp_path / "one/tool")
    program(tmp_path / "two/tool")
    found = resolver(tmp_path / "none", tmp_path / "two", tmp_path / "one").resolve("tool", "/")
    assert found.path == found.canonical == str(tmp_path / "two/tool")
    assert found.fingerprint == fingerprint(found.canonical)


def test_a_bad_hit_ends_the_search(tmp_path: Path) -> None:
    """No further search after a bad hit: a directory, a plain file, a link that leads nowhere."""
    program(tmp_path / "good/tool")
    (tmp_path / "directory/tool").mkdir(parents=True)
    program(tmp_path / "plain/tool").chmod(0o644)
    (tmp_path / "dangling").mkdir()
    (tmp_path / "dangling/tool").symlink_to("nowhere")
    for bad, why in (("directory", "not a regular file"), ("plain", "not executable"), ("dangling", "no such file")):
        assert why in refused(lambda bad=bad: resolver(tmp_path / bad, tmp_path / "good").resolve("tool", "/"))


def test_relative_entries_of_the_search_path_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "here/tool")
    monkeypatch.chdir(tmp_path)
    assert resolver("here", "", ".").search_path == ()
    assert "empty search path" in refused(lambda: resolver("here", "", ".").resolve("tool", str(tmp_path / "here")))


def test_a_name_with_a_slash_starts_at_the_working_directory(tmp_path: Path) -> None:
    program(tmp_path / "bin/tool")
    found = resolver(tmp_path / "bin").resolve("./bin/tool", str(tmp_path))
    assert (found.requested, found.canonical) == ("./bin/tool", str(tmp_path / "bin/tool"))
    refused(lambda: resolver(tmp_path / "bin").resolve("./tool", str(tmp_path)))


def test_links_are_followed_forty_deep(tmp_path: Path) -> None:
    target = program(tmp_path / "link0")
    for depth in range(1, 42):
        (tmp_path / f"link{depth}").symlink_to(tmp_path / f"link{depth - 1}")
    found = resolver(tmp_path).resolve("link40", "/")
    assert (found.path, found.canonical) == (str(tmp_path / "link40"), str(target))
    assert "more than 40" in refused(lambda: resolver(tmp_path).resolve("link41", "/"))


def test_an_alias_wins_and_is_held_to_its_digest(tmp_path: Path) -> None:
    target = program(tmp_path / "tool")
    digest = fingerprint(str(target)).sha256
    assert resolver(tool=Alias(str(target), digest.upper())).resolve("tool", "/").sha256 == digest
    other = resolver(tmp_path, tool=Alias(str(target), "0" * 64))
    assert digest in refused(lambda: other.resolve("tool", "/"), "executable_changed")


@pytest.mark.parametrize(("mode", "trusted"), [(0o755, True), (0o775, False), (0o757, False)])
def test_trust_needs_a_file_that_only_its_owner_writes(tmp_path: Path, mode: int, trusted: bool) -> None:
    target = program(tmp_path / "bin/tool")
    target.chmod(mode)
    by_root = Resolver({}, (str(target.parent),), (str(tmp_path),)).resolve("tool", "/")
    by_alias = resolver(tool=Alias(str(target), trusted=True)).resolve("tool", "/")
    assert (by_root.trusted, by_alias.trusted) == (trusted, trusted)
    assert not resolver(target.parent).resolve("tool", "/").trusted


@pytest.mark.parametrize("name", ["", "a\0b", "a/\0", "\udc80", "x" * 300])
def test_hostile_names_are_refused(name: str) -> None:
    refused(lambda: resolver("/usr/bin").resolve(name, "/"))


def rewrite(path: Path) -> None:
    path.write_text("#!/bin/sh\nevil\n")


def replace(path: Path) -> None:
    rewrite(program(path.with_name("new")))
    path.with_name("new").replace(path)


def same_size_and_time(path: Path) -> None:
    status = path.stat()
    path.write_text("#!/bin/zz\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def to_link(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to(path.with_name("moved"))


@pytest.mark.parametrize(
    "swap", [rewrite, replace, same_size_and_time, to_link, Path.unlink, lambda path: path.chmod(0o700)]
)
def test_s029_a_swapped_file_is_noticed(tmp_path: Path, swap: Callable[[Path], None]) -> None:
    pinned = pin(str(program(tmp_path / "tool")))
    verify(pinned)
    swap(tmp_path / "tool")
    refused(lambda: verify(pinned), "executable_changed")


def test_a_file_that_grows_under_the_reader_is_no_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = program(tmp_path / "tool")
    taken = files.os.fstat

    def growing(descriptor: int) -> os.stat_result:
        status = taken(descriptor)
        target.write_text(target.read_text() + "#")
        return status

    monkeypatch.setattr(files.os, "fstat", growing)
    with pytest.raises(ChangedWhileReading):
        fingerprint(str(target))


def test_only_regular_files_have_fingerprints(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match=r"regular|directory"):
            fingerprint(str(path))


def test_memory_of_settled_files_ends_with_their_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only an administrator can change is read once; a new status is read again."""
    monkeypatch.setattr("chatml_shell.resolver.resolve.settled", lambda mode, uid: True)
    found = resolver(tmp_path)
    first = (program(tmp_path / "tool"), found.resolve("tool", "/"))[1]
    assert found.resolve("tool", "/") == first
    replace(tmp_path / "tool")
    assert found.resolve("tool", "/").sha256 != first.sha256


def test_s025_containment_follows_links(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w/e").symlink_to("/etc")
    assert within(str(tmp_path / "w/new/file"), [str(tmp_path / "w")])
    assert not within(str(tmp_path / "w/e/passwd"), [str(tmp_path / "w")])
    assert not within(str(tmp_path / "w/../x"), [str(tmp_path / "w")])
    (tmp_path / "dangling").symlink_to(tmp_path / "elsewhere/file")
    assert canonical(str(tmp_path / "dangling")) == str(tmp_path / "elsewhere/file")


@given(st.lists(st.sampled_from(["usr", "usrx", "..", ".", "", "bin"])))
def test_containment_is_by_whole_components(parts: list[str]) -> None:
    """A path is within a root exactly when it is the root, or the root and a slash begin it."""
    path = canonical("/nowhere/" + "/".join(parts))
    assert within(path, ["/nowhere/usr"]) == f"{path}/".startswith("/nowhere/usr/")


def test_system_programs_are_told_by_their_place(tmp_path: Path) -> None:
    assert is_system(canonical("/bin/cat"))
    assert is_system("/usr/local/bin/anything")
    assert not is_system(str(program(tmp_path / "bin/echo")))
    assert not is_system("/usr/binx/echo")


def test_executables_are_compared_whole(tmp_path: Path) -> None:
    pinned = pin(str(program(tmp_path / "tool")), requested="t", trusted=True)
    assert (pinned.requested, pinned.trusted) == ("t", True)
    wrong = attrs.evolve(pinned, fingerprint=attrs.evolve(pinned.fingerprint, inode=1))
    refused(lambda: verify(wrong), "executable_changed")
