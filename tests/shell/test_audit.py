"""Audit records, their chain, and what an audit file survives (S-030)."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmd.shell.extensions import Audit
from chatmd.sources.paths import parse_path
from chatml_shell.audit import file as files
from chatml_shell.audit.chain import START, Chain, read, seal
from chatml_shell.audit.events import BEFORE_START, EVENTS, Event, EventName
from chatml_shell.audit.file import ChainedFile, rotated
from chatml_shell.audit.recorder import (
    DropField,
    Filter,
    Keep,
    Recorder,
    ReplaceFields,
    append_management,
    open_recorder,
)
from chatml_shell.audit.replay import (
    interrupted,
    last_sequence,
    replay,
    request,
    session_file,
    validate,
    whole,
)
from chatml_shell.errors import Refusal, ShellError, StorageError
from chatml_shell.output.redact import Redactor
from tests.house import environment

NOTHING = Redactor([])
ALLOWED: tuple[EventName, ...] = ("resolved", "policy_decided", "plan_created", "started", "finished")


def event(name: EventName, request_id: str = "shell-00000001", **changes: Any) -> Event:
    known: dict[str, Any] = {
        "session_id": "s1",
        "runtime_id": "main",
        "manifest_sha256": "ab" * 32,
        "request_kind": "structured",
        "argv": ("echo", "x"),
        "cwd": "/",
        "effects": ("read_path",),
    }
    return Event(name=name, request_id=request_id, **known | changes)


def recorder(place: Path, filter: Filter | None = None, **declared: Any) -> Recorder:
    """A recorder that writes to a place; for a session, to the session of the directory that it is in."""
    declared.setdefault("format", "jsonl")
    return open_recorder(
        Audit(path=parse_path("audit.jsonl", "workspace"), **declared),
        path=lambda _: str(place),
        session_dir=str(place.parent),
        filter=filter,
        clock=itertools.count(1_700_000_000).__next__,
        runtime="main",
    )


def keep(known: Recorder, *events: Event, redactor: Redactor = NOTHING) -> None:
    async def all_of_them() -> None:
        for one in events:
            await known.record(one, redactor)

    asyncio.run(all_of_them())


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def code(call: Callable[[], object]) -> str:
    with pytest.raises(StorageError) as caught:
        call()
    return caught.value.code


def appended(path: Path, count: int, **options: Any) -> ChainedFile:
    """A file with records that a host would make, written through one sink."""
    file = ChainedFile(path, time.time, **options)
    file.open()
    for number in range(count):
        file.append({"event": "resolved", "request_id": f"r{number}", "session_id": None})
    return file


def test_s030_the_records_of_an_allowed_command(tmp_path: Path) -> None:
    path = tmp_path / "deep/er/audit.jsonl"
    known = recorder(path)
    keep(known, *(event(name, facts={"backend": "fake"} if name == "plan_created" else {}) for name in ALLOWED))
    records = lines(path)
    assert [record["event"] for record in records] == list(ALLOWED)
    assert [record["sequence"] for record in records] == [1, 2, 3, 4, 5]
    assert list(records[2]) == [
        "schema_version",
        "sequence",
        "timestamp",
        "session_id",
        "runtime_id",
        "manifest_sha256",
        "request_id",
        "plan_id",
        "event",
        "request_kind",
        "command_sha256",
        "cwd_sha256",
        "effects",
        "command",
        "backend",
        "previous_event_sha256",
        "event_sha256",
    ]
    assert records[0]["previous_event_sha256"] is None
    assert all(
        after["previous_event_sha256"] == before["event_sha256"] for before, after in itertools.pairwise(records)
    )
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    report = validate([path])
    assert (report.records, report.first, report.last, report.recovered, report.torn) == (5, 1, 5, (), 0)
    (trail,) = replay([path])
    assert trail.complete
    assert request([path], "shell-00000001") == trail


def test_s030_one_changed_byte_breaks_the_chain(tmp_path: Path) -> None:
    """Whatever byte is changed, the check fails."""
    path = tmp_path / "audit.jsonl"
    keep(recorder(path), *map(event, ALLOWED))
    sound = path.read_bytes()
    for place in range(0, len(sound), 5):
        changed = bytearray(sound)
        changed[place] ^= 1
        path.write_bytes(changed)
        try:
            report = validate([path])
        except StorageError:
            continue
        assert report.torn, place  # the last line is no JSON any more: it tells that something is wrong
        assert place >= sound[:-1].rindex(b"\n")
    path.write_bytes(sound.replace(b'"cwd_sha256":"8', b'"cwd_sha256":"9', 1))
    assert code(lambda: validate([path])) == "shell.audit_chain_digest"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda lines: lines[1:], "shell.audit_sequence_gap"),
        (lambda lines: [lines[0], *lines[2:]], "shell.audit_sequence_gap"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "shell.audit_sequence_gap"),
        (lambda lines: [*lines, lines[-1]], "shell.audit_sequence_gap"),
        (lambda lines: [lines[0], b"{}\n", *lines[1:]], "shell.audit_schema_version"),
        (lambda lines: [lines[0], b"not JSON\n", *lines[1:]], "shell.audit_json"),
        (lambda lines: [lines[0], b'{"a":1,"a":2}\n', *lines[1:]], "shell.audit_json"),
        (lambda lines: [lines[0].replace(b'"timestamp":"', b'"timestamp":1,"x":"'), *lines[1:]], "shell.audit_field"),
        (lambda lines: [seal({"event": "resolved"}, START, "")[0], *lines[1:]], "shell.audit_chain_previous"),
    ],
    ids=["first", "middle", "order", "twice", "schema", "json", "duplicate", "field", "previous"],
)
def test_s030_what_a_check_calls_a_fault(
    tmp_path: Path, change: Callable[[list[bytes]], list[bytes]], expected: str
) -> None:
    path = tmp_path / "audit.jsonl"
    keep(recorder(path), *map(event, ALLOWED))
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    assert code(lambda: validate([path])) == expected


def test_the_codes_of_a_search(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    keep(recorder(path), *map(event, ALLOWED))
    assert code(lambda: request([path], "shell-2")) == "shell.audit_request_not_found"
    assert code(lambda: validate([tmp_path / "none"])) == "shell.audit_read_failed"


class Broken:
    """A sink that keeps nothing."""

    def append(self, fields: Mapping[str, Any]) -> None:
        raise StorageError("shell.audit_write_failed", "the disk is full of K3Y")

    def next_sequence(self) -> int:
        return 1

    def close(self) -> None:
        pass


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_s030_what_a_failing_sink_means(name: EventName) -> None:
    def outcome(failure: Any) -> str:
        known = Recorder(Broken(), "redacted", failure)
        try:
            keep(known, event(name), redactor=Redactor(["K3Y"]))
        except Refusal as refusal:
            return f"{refusal.code}, K3Y shown" if "K3Y" in refusal.reason else refusal.code
        assert known.lost == 1
        return "ok"

    assert outcome("continue") == "ok"
    assert outcome("terminate") == "audit_unavailable"
    assert outcome("deny_start") == ("audit_unavailable" if name in BEFORE_START else "ok")


def test_s024_no_secret_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    secret = Redactor(["K3Y"])
    for content in ("metadata", "redacted", "full"):
        told = event("rejected", argv=("echo", "--key=K3Y"), facts={"reason": "K3Y", "nested": [{"K3Y": "K3Y"}]})
        keep(recorder(path, content=content), told, redactor=secret)
    assert "K3Y" not in path.read_text()
    assert [record.get("command") for record in lines(path)] == [None, *[["echo", "--key=[REDACTED]"]] * 2]


def test_long_words_are_shown_whole_on_demand_only(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for content in ("redacted", "full"):
        keep(recorder(path, content=content), event("resolved", argv=("sh", "-c", "x" * 5000)))
    short, long = (record["command"][2] for record in lines(path))
    assert (len(long), short[:256], "5000 characters" in short) == (5000, "x" * 256, True)


async def kept(record: Mapping[str, Any]) -> Keep:
    return Keep()


async def dropped(record: Mapping[str, Any]) -> DropField:
    return DropField("command")


async def replaced(record: Mapping[str, Any]) -> ReplaceFields:
    return ReplaceFields({"cwd_sha256": f"K3Y {record['sequence']}"})


async def failed(record: Mapping[str, Any]) -> Keep:
    raise RuntimeError("K3Y")


def test_filters(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for filter in (kept, dropped, replaced, failed):
        keep(recorder(path, filter=filter), event("resolved"), redactor=Redactor(["K3Y"]))
    all_of_it, without, other = lines(path)
    assert "command" in all_of_it
    assert "command" not in without
    assert other["cwd_sha256"] == "[REDACTED] 3"
    validate([path])


@pytest.mark.parametrize(
    "field", ["sequence", "timestamp", "request_id", "runtime_id", "manifest_sha256", "event", "no"]
)
def test_filters_leave_alone_what_tells_records_apart(tmp_path: Path, field: str) -> None:
    async def drops(record: Mapping[str, Any]) -> DropField:
        return DropField(field)

    async def replaces(record: Mapping[str, Any]) -> ReplaceFields:
        return ReplaceFields({field: "x"})

    for filter in (drops, replaces):
        known = recorder(tmp_path / "audit.jsonl", filter=filter, failure="deny_start")
        with pytest.raises(Refusal, match=f"`{field}`"):
            keep(known, event("resolved"))


def test_records_go_to_standard_error_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(recorder(tmp_path / "x", format="stderr"), event("resolved"), event("rejected"))
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["sequence"], second["sequence"], "event_sha256" in first) == (1, 2, False)


def test_no_audit_is_no_file(tmp_path: Path) -> None:
    keep(recorder(tmp_path / "x", format="none"), event("resolved"))
    assert list(tmp_path.iterdir()) == []


def test_a_chain_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for name in ALLOWED:
        known = recorder(path)
        keep(known, event(name))
        known.close()
    assert validate([path]).last == len(ALLOWED)


def test_two_recorders_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    both = recorder(path), recorder(path)
    for number in range(10):
        keep(both[number % 2], event("resolved", request_id=f"r{number}"))
    assert [trail.request_id for trail in replay([path])] == [f"r{number}" for number in range(10)]


WRITER = """
import sys, time
from pathlib import Path
from chatml_shell.audit.file import ChainedFile
file = ChainedFile(Path(sys.argv[1]), time.time, rotate_at=int(sys.argv[3]) or None)
file.open()
for number in range(int(sys.argv[2])):
    words = ["x" * (number * 7919 % 30_000)]
    file.append({"event": "resolved", "request_id": f"{sys.argv[4]}-{number}", "command": words})
"""


def writer(path: Path, count: int, name: str, rotate_at: int = 0) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", WRITER, str(path), str(count), str(rotate_at), name]
    return subprocess.Popen(words, env=environment())


def test_two_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    hosts = [writer(path, 200, name) for name in ("a", "b", "c")]
    assert [host.wait(60) for host in hosts] == [0, 0, 0]
    assert validate([path]).records == 600
    for name in ("a", "b", "c"):
        ids = [record["request_id"] for record in lines(path) if record["request_id"].startswith(name)]
        assert ids == [f"{name}-{number}" for number in range(200)]


def test_two_processes_set_one_file_aside(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    hosts = [writer(path, 100, name, rotate_at=700_000) for name in ("a", "b")]
    assert [host.wait(60) for host in hosts] == [0, 0]
    kept = whole(path)
    assert len(kept) > 3
    assert validate(kept).records == 200


KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from chatml_shell.audit.file import ChainedFile

def write(name, ready):
    file = ChainedFile(Path(sys.argv[1]), time.time)
    file.open()
    os.write(ready, b"x")
    while True:
        file.append({"event": "resolved", "request_id": name, "command": ["x" * 150_000]})

chance, hosts = random.Random(7), {}
def start(name):
    heard, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            write(name, ready)
        finally:
            os._exit(1)
    os.close(ready)
    assert os.read(heard, 1) == b"x", f"{name} could not go on"
    os.close(heard)
    return pid

hosts = [start("a"), start("b")]
for kill in range(200):
    time.sleep(chance.random() * 0.004)
    os.kill(hosts[kill % 2], signal.SIGKILL)
    assert os.waitpid(hosts[kill % 2], 0)[1] == signal.SIGKILL
    hosts[kill % 2] = start(f"k{kill}")
for host in hosts:
    os.kill(host, signal.SIGKILL)
    os.waitpid(host, 0)
"""


def test_200_kills_at_random_points_leave_a_chain(tmp_path: Path) -> None:
    """Hosts that are killed while they write: what they leave is found, told of, and does not stop the next one."""
    path = tmp_path / "audit.jsonl"
    subprocess.run([sys.executable, "-c", KILLER, str(path)], env=environment(), check=True, timeout=300)
    left = validate([path])
    appended(path, 1).close()
    after = validate([path])
    assert left.recovered
    assert (after.torn, after.records) == (0, left.records + 1 + bool(left.torn))


@given(st.integers(1, 3), st.lists(st.integers(0, 700), min_size=1, max_size=4))
def test_every_torn_line_is_told_of(count: int, cuts: list[int]) -> None:
    """A file that ends anywhere within its last line is gone on with, and the record behind it has the digest of the
    torn bytes; again and again."""
    directory = Path(os.environ.get("TMPDIR", "/tmp"))
    path = directory / f"chatml-torn-{os.getpid()}.jsonl"
    try:
        path.unlink(missing_ok=True)
        appended(path, count).close()
        for cut in cuts:
            data = path.read_bytes()
            begin = data.rindex(b"\n", 0, len(data) - 1) + 1 if data.count(b"\n") > 1 else 0
            kept = data[: begin + min(cut, len(data) - begin - 1)]
            path.write_bytes(kept)
            torn = kept[begin:]
            report = validate([path])
            assert report.torn == (0 if sound(torn) else len(torn))
            appended(path, 1).close()
            assert validate([path]).torn == 0
            assert (b"torn_sha256" in path.read_bytes()[begin + len(torn) :]) == bool(report.torn)
    finally:
        for left in (path, Path(f"{path}.lock")):
            left.unlink(missing_ok=True)


def sound(line: bytes) -> bool:
    """Whether nothing but the line's end is missing."""
    try:
        read(line)
    except StorageError:
        return False
    return True


def test_a_record_about_a_torn_line_can_be_torn_itself(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    appended(path, 2).close()
    path.write_bytes(path.read_bytes() + b'{"schema')
    appended(path, 1).close()
    data = path.read_bytes()
    behind = data.index(b'{"schema\n') + len(b'{"schema\n')
    for end in range(behind - 1, data.index(b"\n", behind)):
        path.write_bytes(data[:end])
        assert validate([path]).torn == len(data[:end]) - (behind - len(b'{"schema\n'))
        appended(path, 1).close()
        report = validate([path])
        assert (report.torn, len(report.recovered)) == (0, 1)


def test_a_last_line_that_was_changed_is_not_gone_on_from(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    appended(path, 3).close()
    data = path.read_bytes()
    for changed in (data.replace(b"r2", b"rX"), data + b"{}\n", data + b'{"sequence":9}\n'):
        path.write_bytes(changed)
        with pytest.raises(StorageError):
            appended(path, 1)
        assert path.read_bytes() == changed


def test_a_full_disk_leaves_whole_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes half a line: the half is taken back, and the record is refused."""
    path = tmp_path / "audit.jsonl"
    file = appended(path, 2)
    size, real = path.stat().st_size, os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 50:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[: len(data) // 2])

    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(StorageError, match="no space left"):
        file.append({"event": "resolved"})
    monkeypatch.undo()
    assert path.stat().st_size == size
    file.append({"event": "resolved"})
    assert validate([path]).records == 3


def test_a_device_is_not_an_audit_file() -> None:
    """Nor is `/dev/full`, which refuses every byte."""
    assert code(lambda: appended(Path("/dev/full"), 1)) in ("shell.audit_open_failed", "shell.audit_write_failed")


def test_a_file_that_vanishes_is_not_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    file = appended(path, 2)
    path.unlink()
    assert code(lambda: file.append({"event": "resolved"})) == "shell.audit_write_failed"
    assert not path.exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.symlink_to(tmp_path / "elsewhere")
    assert code(lambda: ChainedFile(path, time.time).open()) == "shell.audit_open_failed"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("failure", ["continue", "deny_start", "terminate"])
def test_what_cannot_be_opened_stops_the_start(tmp_path: Path, failure: Any) -> None:
    """E-30, for a place where no file can be made, whoever tries."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ShellError) as caught:
        recorder(tmp_path / "file/audit.jsonl", failure=failure)
    assert [one.code for one in caught.value.diagnostics] == ["shell.audit_open_failed"]


def test_a_lock_that_nobody_lets_go_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_ATTEMPTS", 2)
    path = session_file(str(tmp_path))
    file = appended(path, 1)
    with files.locked(path):
        assert code(lambda: file.append({"event": "resolved"})) == "shell.audit_management_locked"
        revoke = {"event": "grant_revoked"}
        assert code(lambda: append_management(str(tmp_path), revoke, time.time)) == "shell.audit_management_locked"


def test_sessions_keep_five_files_that_were_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = session_file(str(tmp_path))
    file = appended(path, 100, rotate_at=2000)
    assert [one.name for one in whole(path)] == [f"shell-audit.jsonl.{n}" for n in (5, 4, 3, 2, 1)] + [path.name]
    report = validate(whole(path))
    assert report.last == 100
    assert report.first is not None
    assert report.first > 1
    assert last_sequence(str(tmp_path)) == 100
    rotated(path, 3).unlink()
    assert code(lambda: validate(whole(path))) == "shell.audit_sequence_gap"
    rotated(path, 2).unlink()
    assert code(lambda: whole(path)) == "shell.audit_rotation_invalid"
    file.close()


@pytest.mark.parametrize("stopped_after", range(7))
def test_a_host_that_is_stopped_while_it_sets_a_file_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_after: int
) -> None:
    path = session_file(str(tmp_path))
    file = appended(path, 60, rotate_at=2000)
    steps = itertools.count()
    real = Path.replace

    def stopping(self: Path, target: Path) -> Path:
        if next(steps) >= stopped_after:
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(Path, "replace", stopping)
    with pytest.raises(KeyboardInterrupt) if stopped_after < 5 else nothing():
        for _ in range(10):
            file.append({"event": "resolved", "request_id": "r", "session_id": None})
    monkeypatch.undo()
    file.close()
    again = appended(path, 30, rotate_at=2000)
    again.close()
    validate(whole(path))


def nothing() -> Any:
    return pytest.MonkeyPatch.context()


def test_management_records_join_the_chain(tmp_path: Path) -> None:
    keep(recorder(tmp_path / "x", format="session"), *map(event, ALLOWED))
    append_management(str(tmp_path), {"event": "grant_revoked", "grant_id": "g1", "reason": None}, time.time)
    path = session_file(str(tmp_path))
    assert validate([path]).last == last_sequence(str(tmp_path)) == 6
    assert len(replay([path])) == 1
    assert last_sequence(str(tmp_path / "other")) == 0


def test_what_was_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    keep(
        recorder(path),
        *(event(name, request_id="shell-1") for name in ALLOWED),
        *(event(name, request_id="shell-2", argv=("cat", "y")) for name in ALLOWED[:-1]),
        *(event(name, request_id="shell-3") for name in ("resolved", "rejected")),
    )
    (cut,) = interrupted([path])
    assert (cut.request_id, cut.command, cut.effects, cut.retryable) == ("shell-2", ("cat", "y"), ("read_path",), False)


def test_ten_thousand_records_take_about_a_second(tmp_path: Path) -> None:
    """Appended and verified, in seconds of the processor: a third of one each on the machine that this was written
    on."""
    path = session_file(str(tmp_path))
    known = recorder(tmp_path / "x", format="session")
    begun = time.process_time()
    keep(known, *(event("resolved", request_id=f"shell-{number}") for number in range(10_000)))
    assert validate(whole(path)).records == 10_000
    assert time.process_time() - begun < 3


@given(st.lists(st.dictionaries(st.text(min_size=1), st.text() | st.integers() | st.none(), max_size=3), max_size=5))
def test_what_is_sealed_reads_back(records: list[dict[str, Any]]) -> None:
    """Every record reads back as it was, and follows the one before."""
    chain, after = Chain(), START
    for record in records:
        line, after = seal(record | {"event": "resolved"}, after, "now")
        found = chain.add(line)
        assert found is not None
        assert found.link == after
        assert {**record, **found.fields} == dict(found.fields) or "event" in record or "sequence" in record
