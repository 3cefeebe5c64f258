"""From checked fields to a request: literal words, in the order that the mode says (section 12.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from chatmd.shell.tool import Chain as ChainMode
from chatmd.shell.tool import CommandLine, Fixed, Raw, ScriptFile, SecretWord, ShellTool, Word
from chatmd.sources.paths import PathExpr
from chatml_shell.chain.parse import ChainError, parse_chain
from chatml_shell.plans.command import Command, Kind
from chatml_shell.plans.request import Chain, PreparedScript, Request, of_command
from chatml_shell.tools.inputs import InputError, Inputs


@attrs.frozen
class Surroundings:
    """What words are made of beside the model's: the process's variables, and where path expressions lead."""

    environment: Mapping[str, str] = attrs.field(repr=False)
    path: Callable[[PathExpr], str]
    script: PreparedScript | None = None


def build_request(tool: ShellTool, inputs: Inputs, around: Surroundings) -> Request:
    """The request that a call makes. Raises `InputError`."""
    mode = tool.mode
    secrets: list[str] = []
    kind: Kind = "structured"
    if isinstance(mode, Fixed):
        command, secrets = _fixed(mode, inputs, around)
        chain = of_command(command)
    elif isinstance(mode, ChainMode):
        chain = _parsed(inputs.command, "shell.tool_chain_parse")
    elif isinstance(mode, Raw):
        kind = "raw_shell"
        chain = of_command(
            Command(around.path(mode.executable), (*mode.arguments_before_script, inputs.script)),
        )
    elif isinstance(mode, ScriptFile):
        kind = "script_file"
        chain = of_command(_script(mode, inputs, around))
    else:
        chain = of_command(Command(inputs.program, inputs.arguments))
    _check_words(chain)
    return Request(
        chain=chain,
        kind=kind,
        stdin=inputs.stdin.encode("utf-8"),
        rationale=inputs.rationale or None,
        script=around.script,
        secrets=tuple(secrets),
    )


def _fixed(mode: Fixed, inputs: Inputs, around: Surroundings) -> tuple[Command, list[str]]:
    """The command of a fixed tool with the model's words behind its own, and the secrets in it."""
    secrets: list[str] = []
    if mode.line is not None:
        base = _declared(mode.line, around, secrets)
    elif mode.executable_ref is not None:
        base = Command(mode.executable_ref)
    else:
        single = _parsed(mode.command or "", "shell.tool_invalid_fixed_command").single
        if single is None:
            raise InputError("shell.tool_invalid_fixed_command", "a fixed tool runs one command, not several")
        base = single
    return Command(base.program, (*base.arguments, *inputs.arguments)), secrets


def _declared(line: CommandLine, around: Surroundings, secrets: list[str]) -> Command:
    words = []
    for word in line.words:
        if isinstance(word, Word):
            words.append(word.value)
        elif isinstance(word, SecretWord):
            value = around.environment.get(word.env)
            if value is None:
                raise InputError("shell.tool_secret_missing", f"the variable `{word.env}` is not set on this host")
            secrets.append(value)
            words.append(word.prefix + value)
        else:
            words.append(around.path(word.path))
    return Command(line.program or line.executable_ref or "", tuple(words))


def _script(mode: ScriptFile, inputs: Inputs, around: Surroundings) -> Command:
    path = around.path(mode.script)
    if mode.interpreter is None:
        return Command(path, (*mode.fixed_arguments, *inputs.arguments))
    return Command(around.path(mode.interpreter), (*mode.fixed_arguments, path, *inputs.arguments))


def _parsed(text: str, code: str) -> Chain:
    try:
        return parse_chain(text)
    except ChainError as error:
        raise InputError(code, f"{error.message} (at byte {error.offset})") from None


def _check_words(chain: Chain) -> None:
    for link in chain.links:
        for stage in link.stages:
            if not stage.program or any("\0" in word for word in stage.argv):
                raise InputError("shell.tool_invalid_input", "a program is not empty, and no word holds NUL")
