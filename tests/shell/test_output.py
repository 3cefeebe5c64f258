"""Output made fit to be read: control sequences, secrets, limits (S-023, S-024)."""

from __future__ import annotations

import asyncio
import random
import time

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chatml_shell.errors import Refusal
from chatml_shell.output.finalise import Output, finalise, refinalise
from chatml_shell.output.redact import Redactor
from chatml_shell.output.sanitise import decoded, displayed, sanitise
from chatml_shell.plans.outcome import Capture
from tests.shell.machine import BOUNDS, run, shell

NOTHING = Redactor([])
REPLACEMENT = "[REDACTED]"


def whole(text: str | bytes) -> Capture:
    data = text.encode() if isinstance(text, str) else text
    return Capture(data, len(data))


def final(out: str | bytes, err: str | bytes = "", redactor: Redactor = NOTHING, **bounds: int) -> Output:
    return finalise(whole(out), whole(err), redactor, attrs.evolve(BOUNDS, **bounds))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[1Aup", "up"),
        ("a\x00b\x07c\x7fd\x08e", "abcde"),
        ("kept\n\r\t", "kept\n\r\t"),
        ("\x1b]0;title\x07", "]0;title"),
        ("\x1b[", "["),
        ("\x1b[?25l\x1b[38;5;200mx", "x"),
        ("\x9b31m eight bits \u202e", "\x9b31m eight bits \u202e"),
    ],
)
def test_s024_control_sequences_are_removed(written: str, read: str) -> None:
    assert sanitise(written) == read


def test_invalid_bytes_are_replaced() -> None:
    assert final(b"a\xff\xfeb\xc3").stdout == "a\ufffd\ufffdb\ufffd"


@pytest.mark.parametrize(
    ("data", "text"), [(b"ab\xe2\x82", "ab"), (b"ab\x1b[31", "ab"), (b"ab\x1b", "ab"), (b"ab\x1b[31m", "ab")]
)
def test_what_a_cut_left_unfinished_is_dropped(data: bytes, text: str) -> None:
    assert decoded(data, cut=True) == text


def test_what_people_see_moves_no_cursor_and_turns_no_line() -> None:
    assert displayed("a\u202eb\x9bc\u2066d\x1b[1Ae\x85", 100) == "abcde"
    assert displayed("x" * 300, 256) == "x" * 255 + "…"


def test_s023_a_channel_is_cut_at_a_character() -> None:
    assert final("abcdef", stdout=3) == Output("abc", "", stdout_truncated=True)
    assert final("aéb", stdout=2) == Output("a", "", stdout_truncated=True)
    assert final("abc", "def", stdout=3, stderr=2) == Output("abc", "de", stderr_truncated=True)


def test_s023_both_channels_together_have_a_limit() -> None:
    with pytest.raises(Refusal) as caught:
        final("abc", "def", total_output=5)
    assert (caught.value.code, caught.value.facts) == ("output_limit_exceeded", {"limit_bytes": 5})
    assert final("abc", "def", total_output=6) == Output("abc", "def")


def test_s024_a_secret_is_replaced_everywhere() -> None:
    assert final("K3Y is K3Y\n", "K3Y", Redactor(["K3Y"])) == Output("[REDACTED] is [REDACTED]\n", "[REDACTED]")


@pytest.mark.parametrize(
    ("secrets", "text", "read"),
    [
        (["abc", "abcdef"], "abcdef abc", "* *"),
        (["abc", "bcd"], "abcd", "*"),
        (["aa"], "aaaaa", "*"),
        ([""], "text", "text"),
        (["a\x07b"], "ab", "*"),
        (["line\nline"], "line\nline", "*"),
    ],
)
def test_secrets_that_overlap_leave_no_end(secrets: list[str], text: str, read: str) -> None:
    assert Redactor(secrets, "*").redact(text) == read


def test_s024_a_control_sequence_does_not_hide_a_secret() -> None:
    assert final("K\x1b[0m3\x00Y", redactor=Redactor(["K3Y"])).stdout == REPLACEMENT


def test_s024_what_an_interceptor_adds_is_redacted_again() -> None:
    again = refinalise(Output("ok K3Y", "K\x073Y", stdout_truncated=True), Redactor(["K3Y"]), BOUNDS)
    assert again == Output("ok [REDACTED]", "[REDACTED]", stdout_truncated=True)


def test_a_limit_never_shows_the_half_of_a_secret() -> None:
    """A short replacement pulls what follows a secret into the limit: the half of the next one with it."""
    redactor = Redactor(["SECRET" * 10], "*")
    written = ("SECRET" * 10 * 2).encode()
    for room in range(len(written)):
        read = finalise(Capture(written[:room], len(written), True), Capture(), redactor, BOUNDS).stdout
        assert "S" not in read


def test_whole_files_may_be_secrets() -> None:
    """Half a megabyte of secret against as much of its beginning: no more than a moment."""
    secret = "".join(random.Random(1).choices("ab\n", k=500_000))
    begun = time.monotonic()
    assert Redactor([secret]).redact(secret[:-1], cut=True) == REPLACEMENT
    assert Redactor([secret]).redact(f"x{secret[1:]}!", cut=True) == f"x{secret[1:]}!"
    assert time.monotonic() - begun < 5


SECRETS = st.lists(st.text(st.characters(codec="utf-8"), min_size=2, max_size=12), min_size=1, max_size=4)
NOISE = st.text(st.characters(codec="utf-8"), max_size=8)
CONTROLS = st.sampled_from(["", "\x1b[31m", "\x00", "\x07", "\x1b[0K"])


def fair(secrets: list[str]) -> None:
    """A secret of which a replacement has a part would arise anew beside it: nothing that anybody could learn."""
    assume(not any(set(secret) & set(REPLACEMENT) for secret in secrets))
    assume(all(sanitise(secret) for secret in secrets))


@given(SECRETS, st.data())
def test_no_secret_is_read_wherever_it_was_split(secrets: list[str], data: st.DataObject) -> None:
    """No secret stands in either channel or across both, whatever stands between its characters and where it is cut."""
    fair(secrets)
    pieces = []
    for _ in range(data.draw(st.integers(1, 5))):
        pieces.append(data.draw(NOISE))
        pieces.append(data.draw(CONTROLS).join(data.draw(st.sampled_from(secrets))))
    written = "".join(pieces).encode()
    border = data.draw(st.integers(0, len(written)))
    room = data.draw(st.integers(0, len(written)))
    first, second = written[:border], written[border:]
    captures = [Capture(part[:room], len(part), len(part) > room) for part in (first, second)]
    output = finalise(captures[0], captures[1], Redactor(secrets), BOUNDS)
    for secret in secrets:
        assert secret not in output.stdout + output.stderr
        assert sanitise(secret) not in output.stdout + output.stderr


@given(SECRETS, st.text(), st.text())
def test_finished_output_stays_as_it_is(secrets: list[str], stdout: str, stderr: str) -> None:
    """To finalise what is final changes nothing."""
    fair(secrets)
    redactor = Redactor(secrets)
    once = refinalise(Output(stdout, stderr), redactor, BOUNDS)
    assert refinalise(once, redactor, BOUNDS) == once


@given(st.text(), st.integers(0, 20))
def test_a_cut_keeps_a_beginning(text: str, limit: int) -> None:
    """A limit keeps a beginning of the text that fits, and one character more would not."""
    read = final(text, stdout=limit, total_output=10_000)
    clean = sanitise(text)
    assert clean.startswith(read.stdout)
    assert len(read.stdout.encode()) <= limit
    assert read.stdout_truncated == (read.stdout != clean)
    if read.stdout_truncated:
        assert len(clean[: len(read.stdout) + 1].encode()) > limit


@pytest.mark.parametrize(
    "script", ["printf K; sleep 0.1; printf 3; sleep 0.1; printf Y", "printf K3; printf Y >&2", "printf 'K\\0333Y'"]
)
def test_a_secret_of_a_real_command_is_redacted(script: str) -> None:
    stage = asyncio.run(run(shell(script))).stages[0]
    redactor = Redactor(["K3Y", "K\x1b3Y"])
    output = finalise(stage.stdout, stage.stderr, redactor, BOUNDS)
    assert output.stdout + output.stderr == REPLACEMENT
