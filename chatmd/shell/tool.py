"""`<tool type="shell">`: commands that the model may run in a shell runtime (shell.md section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import attrs

from chatmd.elements.tool import Command
from chatmd.shell.shape import ByPresence, Declared, attribute, child, children, declared, needed
from chatmd.shell.values import BOOL, ENV_NAME, INTEGER, PATH, REFERENCE, STRINGS, TEXT, Value, choice
from chatmd.sources.paths import PathExpr, parse_path
from chatml.source import Span

Use = Literal["none", "optional", "required"]
Result = Literal["combined", "stdout", "structured"]
Stream = Literal["finalized", "sanitized"]
Nonzero = Literal["result", "error"]
Verification = Literal["sha256"]

LEGACY_RUNTIME = "legacy:custom"
"""The runtime of the tools that a document declares by a `command` alone (section 7.6)."""

INVALID = "shell.tool_invalid_attribute"
TOOL_PATH = attrs.evolve(PATH, code="shell.tool_invalid_path")
TOOL_BOOL = attrs.evolve(BOOL, code=INVALID)
POSITIVE = attrs.evolve(
    INTEGER,
    code=INVALID,
    wanted="a positive whole number",
    parse=lambda text, record: INTEGER.parse(text, record) or None,
)
BASE = Value("shell.invalid_path", "a path variable", lambda text, record: parse_path(f"${{{text}}}", text))


def tool_choice(names: object) -> Value:
    """One of the names of a `Literal` type, as an attribute of a tool."""
    return attrs.evolve(choice(names), code=INVALID)


@declared
class Word(Declared):
    """A word of a command line, as it is."""

    value: str = needed(TEXT)


@declared
class SecretWord(Declared):
    """A word whose end is the value of a variable of the host, and secret."""

    env: str = needed(ENV_NAME)
    prefix: str = attribute(TEXT, "")


@declared
class PathWord(Declared):
    """A word that is a path. `base="workspace" path="a"` is another spelling of `path="${workspace}/a"`."""

    spellings: ClassVar[Mapping[str, Value]] = {"base": BASE}
    path: PathExpr = needed(PATH)

    @classmethod
    def rewritten(cls, given: dict[str, str]) -> dict[str, str]:
        base = given.pop("base", None)
        return given if base is None else {"path": f"${{{base}}}/{given['path']}"}


@declared
class CommandLine(Declared):
    """A command with its words: a program, or an executable of the runtime by its id."""

    program: str | None = attribute(TEXT)
    executable_ref: str | None = attribute(TEXT)
    words: tuple[Word | SecretWord | PathWord, ...] = children(
        {"arg": Word, "secret_arg": SecretWord, "path_arg": PathWord}
    )

    def contradiction(self) -> tuple[str, Span | None] | None:
        if not self.program and not self.executable_ref:
            return "shell.tool_missing_command", self.span
        return None


@declared
class Arguments(Declared):
    """The arguments that the model may add: how many, and how many bytes each."""

    mode: Use = needed(choice(Use))
    min_count: int | None = attribute(INTEGER)
    max_count: int | None = attribute(INTEGER)
    max_item_bytes: int | None = attribute(INTEGER)


@declared
class Fixed(Declared):
    """One command, given by exactly one of a compact line, an executable of the runtime, and an element."""

    command: str | None = attribute(TEXT)
    executable_ref: str | None = attribute(TEXT)
    line: CommandLine | None = child(
        "command",
        ByPresence(
            {"program": CommandLine, "executable_ref": CommandLine},
            "shell.tool_missing_command",
            "shell.tool_conflicting_command",
        ),
    )
    arguments: Arguments = child("arguments", Arguments, default=Arguments(mode="optional"))


@declared
class Structured(Declared):
    """A program and its arguments, both from the model."""


@declared
class Chain(Declared):
    """Pipelines and short-circuits of commands, from the model, without a shell."""


@declared
class Raw(Declared):
    """A script from the model, for a shell."""

    executable: PathExpr = needed(TOOL_PATH)
    arguments_before_script: tuple[str, ...] = attribute(STRINGS, ("-c",))


@declared
class ScriptFile(Declared):
    """A script file, run by an interpreter or executed itself."""

    script: PathExpr = needed(TOOL_PATH)
    interpreter: PathExpr | None = attribute(TOOL_PATH)
    executable: bool = attribute(TOOL_BOOL, attrs.Factory(lambda self: self.interpreter is None, takes_self=True))
    fixed_arguments: tuple[str, ...] = attribute(STRINGS, ())
    verification: Verification = attribute(tool_choice(Verification), "sha256")
    max_source_bytes: int = attribute(POSITIVE, 2**20)


Mode = Fixed | Structured | Chain | Raw | ScriptFile
MODES: dict[str, type[Mode]] = {
    "fixed": Fixed,
    "structured": Structured,
    "chain": Chain,
    "raw": Raw,
    "script": ScriptFile,
}


@declared
class ShellTool(Declared):
    """A tool that runs commands in the runtime `runtime` (qualified); what commands, its mode says."""

    name: str = needed(TEXT)
    runtime: str = needed(REFERENCE)
    mode: Mode
    description: str | None = attribute(TEXT)
    stdin: Use = attribute(tool_choice(Use), "none")
    rationale: Use = attribute(
        tool_choice(Use),
        attrs.Factory(lambda self: "none" if isinstance(self.mode, Fixed) else "optional", takes_self=True),
    )
    result: Result = attribute(tool_choice(Result), "combined")
    stream: Stream = attribute(tool_choice(Stream), "finalized")
    nonzero: Nonzero = attribute(tool_choice(Nonzero), "result")


def mode_of(tool: ShellTool) -> str:
    """The name of a tool's mode."""
    return next(name for name, kind in MODES.items() if isinstance(tool.mode, kind))


def desugared(tool: Command) -> ShellTool:
    """The shell tool that a tool with a `command` alone stands for (section 6.4).

    >>> tool = desugared(Command("rg", "rg -n"))
    >>> tool.runtime, tool.mode.command, tool.rationale
    ('legacy:custom', 'rg -n', 'optional')
    """
    place: dict[str, Any] = {"span": tool.span, "source_record": tool.source_record}
    return ShellTool(
        name=tool.name,
        runtime=LEGACY_RUNTIME,
        mode=Fixed(command=tool.command, **place),
        description=tool.description,
        rationale="optional",
        **place,
    )
