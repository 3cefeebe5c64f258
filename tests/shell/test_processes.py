"""Real processes: pipes, limits, ends, and that nothing is left (S-022, S-023)."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
import time
from pathlib import Path

import attrs
import pytest

from chatml_shell.errors import Refusal
from chatml_shell.plans.outcome import Exited, PipelineOutcome, Signaled
from chatml_shell.plans.plan import Plan
from chatml_shell.processes import launcher as launching
from chatml_shell.processes.launcher import Launcher
from chatml_shell.processes.pipeline import run_pipeline
from tests.shell.machine import Notes, plan, run, running, shell

SLEEP = "31556952.{}"
"""A number of seconds that nobody else sleeps: what is still running is told by it."""


def go(*plans: Plan, stdin: bytes = b"", watch: Notes | None = None) -> PipelineOutcome:
    return asyncio.run(run(*plans, stdin=stdin, watch=watch))


def output(outcome: PipelineOutcome) -> str:
    return outcome.stages[-1].stdout.data.decode()


def refused(code: str, *plans: Plan, stdin: bytes = b"", watch: Notes | None = None, wall: float = 30) -> Refusal:
    """The refusal of a pipeline. The fork server is awake before its time begins."""

    async def attempt() -> None:
        async with Launcher() as launcher:
            await run_pipeline(launcher, [plan("true")], b"", Notes(), deadline=None)
            deadline = asyncio.get_running_loop().time() + wall
            await run_pipeline(launcher, plans, stdin, watch or Notes(), deadline=deadline)

    with pytest.raises(Refusal) as caught:
        asyncio.run(attempt())
    assert caught.value.code == code, caught.value
    return caught.value


def test_s022_a_real_pipeline() -> None:
    assert output(go(plan("printf", "abc"), plan("wc", "-c"))).strip() == "3"


def test_s022_a_reader_that_leaves_ends_its_writer() -> None:
    outcome = go(plan("yes"), plan("head", "-n", "1"))
    assert output(outcome) == "y\n"
    assert [stage.status for stage in outcome.stages] == [Signaled(signal.SIGPIPE), Exited(0)]


def test_s022_standard_error_stays_with_its_stage() -> None:
    outcome = go(shell("echo out; echo err >&2"), plan("cat"))
    assert output(outcome) == "out\n"
    assert [stage.stderr.data for stage in outcome.stages] == [b"err\n", b""]


def test_statuses_of_all_stages() -> None:
    outcome = go(shell("exit 3"), shell("kill -TERM $$"), shell("exit 0"))
    assert [stage.status for stage in outcome.stages] == [Exited(3), Signaled(signal.SIGTERM), Exited(0)]


@pytest.mark.parametrize("size", [0, 1, 65_536, 1_000_000])
def test_standard_input_arrives_whole(size: int) -> None:
    assert go(plan("cat"), stdin=b"x" * size).stages[0].stdout.data == b"x" * size


def test_a_command_that_reads_nothing_is_not_waited_for() -> None:
    assert output(go(shell("echo done"), stdin=b"x" * 1_000_000)) == "done\n"


def test_the_watch_hears_everything_in_order() -> None:
    notes = Notes()
    go(shell("printf abc; printf de >&2"), watch=notes)
    assert notes.heard[:2] == [("starting", "plan-1"), ("started", "plan-1")]
    assert set(notes.heard[2:4]) == {("output", "plan-1", "stdout", 3), ("output", "plan-1", "stderr", 2)}
    assert notes.heard[4:] == [("finished", "plan-1", Exited(0))]


@pytest.mark.parametrize(
    "script",
    [
        "sleep {0}",
        "trap '' TERM; while :; do sleep {0}; done",
        "setsid sleep {0} & sleep {0}",
        "(setsid setsid sleep {0} &) ; setsid sh -c 'trap \"\" TERM HUP; sleep {0} & sleep {0}' & sleep {0}",
        "exec >&- 2>&-; sleep {0}",
    ],
    ids=["plain", "ignores-term", "own-session", "orphans", "closed-output"],
)
def test_s023_no_survivor_of_a_time_limit(script: str) -> None:
    mark, notes = SLEEP.format(time.time_ns()), Notes()
    begun = time.monotonic()
    assert refused("timed_out", shell(script.format(mark), wall_time=0.05), watch=notes, wall=0.05).facts == {
        "timeout_seconds": 0.05
    }
    assert time.monotonic() - begun < 5
    assert running(mark) == []
    assert notes.heard[-1] == ("terminated", "plan-1", "timed_out", {"timeout_seconds": 0.05})


def test_s023_all_stages_die_with_one() -> None:
    mark = SLEEP.format(time.time_ns())
    refused("timed_out", plan("sleep", mark), plan("sleep", mark), plan("cat"), wall=0.3)
    assert running(mark) == []


def test_s023_idleness() -> None:
    notes = Notes()
    refused("idle_timed_out", shell("echo x; sleep 20", idle_time=0.05), watch=notes)
    assert notes.heard[-1] == ("terminated", "plan-1", "idle_timed_out", {"timeout_seconds": 0.05})


def test_a_busy_command_is_not_idle() -> None:
    ticking = shell("for i in 1 2 3 4 5 6; do sleep 0.1; echo $i; done", idle_time=0.4)
    assert output(go(ticking)).split() == ["1", "2", "3", "4", "5", "6"]


def test_s023_a_channel_keeps_its_beginning() -> None:
    capture = go(shell("printf abcdef", stdout=3, total_output=100)).stages[0].stdout
    assert (capture.data, capture.total, capture.cut) == (b"abc", 6, True)


def test_s023_the_total_is_a_limit() -> None:
    facts = refused("output_limit_exceeded", shell("printf abcdef; sleep 20", total_output=3)).facts
    assert facts == {"limit_bytes": 3}


def test_the_total_counts_both_channels_of_all_stages() -> None:
    loud = "printf aaaa >&2"
    limited = [shell(loud, total_output=11) for _ in range(3)]
    refused("output_limit_exceeded", *limited)
    assert go(*[shell(loud, total_output=12) for _ in range(3)]).stages[2].stderr.total == 4


def memory() -> int:
    """The bytes that this process holds in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.parametrize("channel", [1, 2])
def test_200_megabytes_are_cut_in_flat_memory(channel: int) -> None:
    script = f"head -c 200000000 /dev/zero >&{channel}"
    go(plan("true"))
    before = memory()
    outcome = go(shell(script, stdout=1000, stderr=1000, total_output=300_000_000))
    capture = outcome.stages[0].stdout if channel == 1 else outcome.stages[0].stderr
    assert (len(capture.data), capture.total, capture.cut) == (1000, 200_000_000, True)
    assert memory() - before < 20_000_000
    refused("output_limit_exceeded", shell(script, total_output=1_500_000))


def test_what_a_command_leaves_running_ends_with_it() -> None:
    """A background process has a moment to finish its work; then it is killed, and the result does not wait for it."""
    mark = SLEEP.format(time.time_ns())
    begun = time.monotonic()
    assert output(go(shell(f"(setsid sleep {mark} &); (sleep 0.01; echo late) & echo done"))) == "done\nlate\n"
    assert running(mark) == []
    assert time.monotonic() - begun < 5


def test_a_cancelled_pipeline_leaves_nothing() -> None:
    mark, notes = SLEEP.format(time.time_ns()), Notes()

    async def cancel() -> None:
        task = asyncio.create_task(run(shell(f"trap '' TERM; setsid sleep {mark} & sleep {mark}"), watch=notes))
        while not running(mark) or "started" not in [heard[0] for heard in notes.heard]:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # twice: the second one must not cut the end short
        with pytest.raises(asyncio.CancelledError):
            await task
        assert running(mark) == []

    asyncio.run(cancel())
    assert notes.heard[-1] == ("terminated", "plan-1", "cancelled", {})


@pytest.mark.parametrize("event", ["starting", "started", "output", "finished"])
def test_whatever_the_watch_raises_ends_the_pipeline(event: str) -> None:
    mark = SLEEP.format(time.time_ns())

    async def fail(*_: object) -> None:
        raise Refusal("audit_unavailable", "the disk is full")

    failing = type("Failing", (Notes,), {event: staticmethod(fail)})()
    rest = "true" if event == "finished" else f"sleep {mark}"
    refused("audit_unavailable", shell(f"echo x; {rest}"), watch=failing)
    assert running(mark) == []
    told = [heard[0] for heard in failing.heard]
    assert ("terminated" in told) == (event != "starting")


def test_a_host_that_is_killed_takes_its_commands_with_it(tmp_path: Path) -> None:
    mark = SLEEP.format(time.time_ns())
    host = (
        "import asyncio, sys\n"
        f"sys.path[:0] = {sys.path!r}\n"
        "from tests.shell.machine import run, shell\n"
        f"asyncio.run(run(shell('trap \"\" TERM HUP; (setsid sleep {mark} &); sleep {mark}'), wall=None))\n"
    )
    (tmp_path / "host.py").write_text(host)

    async def kill() -> None:
        process = await asyncio.create_subprocess_exec(sys.executable, str(tmp_path / "host.py"))
        while len(running(mark)) < 2:
            await asyncio.sleep(0.02)
        process.kill()
        await process.wait()
        for _ in range(200):
            if not running(mark):
                return
            await asyncio.sleep(0.02)

    asyncio.run(kill())
    assert running(mark) == []


def test_a_fork_bomb_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching, "MOST_PROCESSES", 40)
    mark = SLEEP.format(time.time_ns())
    outcome = go(shell(f"while :; do sleep {mark} & done"))
    assert outcome.stages[0].status == Signaled(signal.SIGKILL)
    assert b"[killed: more than 40 processes at a time]" in outcome.stages[0].stderr.data
    assert running(mark) == []


def test_memory_is_bounded_for_the_whole_family() -> None:
    """Each process is within its own limit; all together are not."""
    hungry = "import time; kept = b'x' * 60_000_000; time.sleep(60)"
    together = shell(f'for i in 1 2 3 4; do /usr/bin/python3 -c "{hungry}" & done; wait', memory=200_000_000)
    outcome = go(together)
    assert outcome.stages[0].status == Signaled(signal.SIGKILL)
    assert b"more than 200000000 bytes of memory in all processes together" in outcome.stages[0].stderr.data


@pytest.mark.parametrize(
    ("script", "bounds", "seen"),
    [
        ("/usr/bin/python3 -c 'b = bytearray(400_000_000)'", {"memory": 200_000_000}, b"MemoryError"),
        ("ulimit -n", {"open_files": 64}, b"64"),
        ("ulimit -t", {"cpu_time": 1.2}, b"2"),
        ("head -c 100000 /dev/zero > {tmp}/big; wc -c < {tmp}/big", {"file_size": 50_000}, b"50000"),
        ("while :; do :; done", {"cpu_time": 1.0}, b""),
    ],
    ids=["memory", "open-files", "cpu", "file-size", "cpu-spent"],
)
def test_limits_of_the_system(tmp_path: Path, script: str, bounds: dict[str, float], seen: bytes) -> None:
    stage = go(shell(script.format(tmp=tmp_path), **bounds)).stages[0]
    assert seen in stage.stdout.data + stage.stderr.data
    if not seen:
        assert stage.status == Signaled(signal.SIGXCPU)


def test_a_command_has_only_what_it_is_given() -> None:
    """Three descriptors, its own session and group, no core files, no new privileges, no group-writable files."""
    kept = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(kept, True)
    try:
        looked = (
            "import os, resource\n"
            "print(sorted(int(name) for name in os.listdir('/proc/self/fd')))\n"  # the listing itself is one of them
            "print(os.getsid(0) == os.getpgid(0) == os.getpid())\n"
            "print(resource.getrlimit(resource.RLIMIT_CORE))\n"
            "print(oct(os.umask(0) & 0o022), dict(os.environ))\n"
        )
        lines = output(go(plan("python3", "-I", "-S", "-c", looked))).splitlines()
        status = output(go(plan("grep", "-E", "NoNewPrivs|SigBlk|SigIgn", "/proc/self/status"))).split()
    finally:
        os.close(kept)
    assert lines == ["[0, 1, 2, 3]", "True", "(0, 0)", "0o22 {'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8'}"]
    assert status == ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16, "NoNewPrivs:", "1"]


def test_there_is_no_controlling_terminal() -> None:
    assert b"tty" in go(shell("echo x > /dev/tty")).stages[0].stderr.data


@pytest.mark.parametrize("words", [("x" * 100_000,) * 10, ("", " ", "\n", "$(id)", "a;b", "é\udcff")])
def test_words_arrive_as_they_are(words: tuple[str, ...]) -> None:
    printed = go(plan("printf", "%s\\0", *words, total_output=3_000_000, stdout=3_000_000)).stages[0].stdout.data
    assert printed.split(b"\0")[:-1] == [word.encode("utf-8", "surrogateescape") for word in words]


@pytest.mark.parametrize("words", [("x" * 200_000,), ("\ud800",), ("a\0b",)], ids=["too-long", "surrogate", "nul"])
def test_words_that_no_process_can_have(words: tuple[str, ...]) -> None:
    refused("spawn_error", plan("printf", *words))


def test_the_directory_must_be_there(tmp_path: Path) -> None:
    gone = plan("pwd", cwd=tmp_path / "gone")
    assert "no such file" in refused("spawn_error", gone).reason.lower()


def test_a_thousand_calls_leave_nothing() -> None:
    """No descriptor, zombie or thread of the host, and no process of the server."""

    def children() -> list[str]:
        stats = (path.read_text() for path in Path("/proc").glob("[0-9]*/stat") if os.access(path, os.R_OK))
        return [line for line in stats if line.rpartition(")")[2].split()[1] == str(os.getpid())]

    async def many() -> None:
        async with Launcher() as launcher:
            once = [plan("true"), plan("cat")]
            await run_pipeline(launcher, once, b"", Notes(), deadline=None)
            descriptors, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
            for _ in range(125):
                await asyncio.gather(
                    *(run_pipeline(launcher, [plan("true")], b"x", Notes(), deadline=None) for _ in range(8))
                )
            assert len(os.listdir("/proc/self/fd")) == descriptors
            assert threading.active_count() == threads
            assert len(children()) == 1

    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    asyncio.run(many())
    assert (children(), len(os.listdir("/proc/self/fd"))) == ([], descriptors)


def test_a_server_that_dies_is_replaced() -> None:
    async def kill_it() -> None:
        async with Launcher() as launcher:
            await run_pipeline(launcher, [plan("true")], b"", Notes(), deadline=None)
            server = launcher._server
            assert server is not None
            server.kill()
            server.wait()
            outcome = await run_pipeline(launcher, [plan("true")], b"", Notes(), deadline=None)
            assert outcome.stages[0].status == Exited(0)

    asyncio.run(kill_it())


def test_a_supervisor_that_dies_is_a_failed_start() -> None:
    mark = SLEEP.format(time.time_ns())

    async def kill_it() -> None:
        task = asyncio.create_task(run(shell(f"exec sleep {mark}")))
        while not running(mark):
            await asyncio.sleep(0.01)
        (main,) = running(mark)
        os.kill(int(Path(f"/proc/{main}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
        with pytest.raises(Refusal, match="the supervisor of the command has died"):
            await task

    asyncio.run(kill_it())
    assert running(mark) == []


def swapped(path: Path, text: str) -> None:
    new = path.with_name("new")
    new.write_text(text)
    new.chmod(0o755)
    new.replace(path)


def test_s029_a_file_that_is_swapped_between_plan_and_start_does_not_run(tmp_path: Path) -> None:
    """Whatever is swapped after the review: replaced, rewritten in place with the same size and time, made a link."""
    tool = tmp_path / "tool"
    swapped(tool, "#!/bin/sh\necho good\n")
    reviewed = plan(str(tool))
    assert output(go(reviewed)) == "good\n"
    swapped(tool, "#!/bin/sh\necho evil\n")
    notes = Notes()
    refused("executable_changed", reviewed, watch=notes)
    assert [heard[0] for heard in notes.heard] == ["starting"]

    swapped(tool, "#!/bin/sh\necho good\n")
    reviewed = plan(str(tool))
    status = tool.stat()
    tool.write_text("#!/bin/sh\necho evil\n")
    os.utime(tool, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "its content differs" in refused("executable_changed", reviewed).reason

    reviewed = plan(str(tool))
    tool.rename(tmp_path / "moved")
    tool.symlink_to(tmp_path / "moved")
    refused("executable_changed", reviewed)


def test_s029_a_binary_runs_by_the_descriptor_that_was_hashed(tmp_path: Path) -> None:
    """A program of another name runs under its first word, and from its own file."""
    tool = tmp_path / "tool"
    tool.write_bytes(Path("/bin/readlink").resolve().read_bytes())
    tool.chmod(0o755)
    reviewed = plan(str(tool), "/proc/self/exe")
    renamed = attrs.evolve(reviewed, launch=attrs.evolve(reviewed.launch, argv=("other", "/proc/self/exe")))
    assert output(go(renamed)) == f"{tool}\n"


def test_directories_that_became_links_stop_the_start(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    reviewed = plan("true")
    reviewed = attrs.evolve(reviewed, launch=attrs.evolve(reviewed.launch, directories=(str(tmp_path / "root"),)))
    go(reviewed)
    (tmp_path / "root").rename(tmp_path / "moved")
    (tmp_path / "root").symlink_to(tmp_path / "moved")
    refused("executable_changed", reviewed)
