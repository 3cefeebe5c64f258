"""The arguments of commands: a plain call means what `argparse` says that it means, and no other call is plain."""

from __future__ import annotations

import contextlib
import importlib
import io
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml_tools.arguments import Arguments
from chatml_tools.commands import CHATML
from chatml_tools.documents import CHATMD
from chatml_tools.program import CommandLine

PROGRAMS = (CHATML, CHATMD)
COMMANDS = [importlib.import_module(f"{program.package}.{name}") for program in PROGRAMS for name in program.commands]
WORDS = ["a", "b", "-", "", "--", "-x", "-1", "core", "ui", "--help", "--js", "--json=", "two words", "-two words"]


def told(command: ModuleType) -> Arguments:
    arguments = Arguments()
    command.configure(arguments)
    return arguments


def by_argparse(arguments: Arguments, words: list[str]) -> SimpleNamespace | None:
    """What `argparse` reads; None where it ends the call."""
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            return arguments.parser("program", None).parse_args(words, SimpleNamespace())
        except SystemExit:
            return None


@given(st.data())
def test_plain_calls_are_those_of_argparse(data: st.DataObject) -> None:
    """Whatever the words of a call, and whatever the command: if it is plain, `argparse` reads the same."""
    arguments = told(data.draw(st.sampled_from(COMMANDS)))
    names = [name for names, _ in arguments.told for name in names if name.startswith("-")]
    words = data.draw(st.lists(st.sampled_from([*names, *WORDS, *names]), max_size=6))
    plain = arguments.read_plain(words)
    assert plain is None or plain == by_argparse(arguments, words)


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("run", "a"),
        ("run", "a --events b --json --surface ui"),
        ("run", "--engine walk -"),
        ("check", "a b c --json"),
        ("replay", "--diff a b c d"),
        ("test", "a --script b --update"),
    ],
)
def test_everyday_calls_are_plain(command: str, call: str) -> None:
    arguments = told(importlib.import_module(f"chatml_tools.commands.{command}"))
    plain = arguments.read_plain(call.split())
    assert plain is not None
    assert plain == by_argparse(arguments, call.split())


@pytest.mark.parametrize(
    "call", ["", "a b", "--help", "a --event b", "a --events=b", "a --events", "a --surface shell"]
)
def test_what_argparse_explains_or_refuses_is_not_plain(call: str) -> None:
    assert told(importlib.import_module("chatml_tools.commands.run")).read_plain(call.split()) is None


@pytest.mark.parametrize(("program", "command"), [(each, name) for each in PROGRAMS for name in ("", *each.commands)])
def test_help_fits_a_terminal(
    program: CommandLine, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        program.main([*command.split(), "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert lines[0].startswith(f"usage: {program.name} {command}")
    assert [line for line in lines if len(line) > 80] == []
