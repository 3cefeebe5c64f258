"""Matchers as programs: tests with two ways on, made once and run for every command.

An instruction is a test and where to go when it is true or false. `all` sends a false test to the end, `any` a true
one, `not` swaps the two ways; so a tree of any depth becomes a list in which every way leads down.
"""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable, Callable

import attrs

from chatmd.shell.policy import (
    ArgvPrefix,
    EffectMatcher,
    Fact,
    Joined,
    Matcher,
    Negated,
    ResolvedPath,
    ScriptMatcher,
    TextMatcher,
)
from chatmd.sources.paths import PathExpr
from chatml_shell.policy.subject import Subject
from chatml_shell.resolver.files import canonical, within

Test = Callable[[Subject], bool]
ScriptTest = Callable[[ScriptMatcher, Subject], Awaitable[bool]]
"""Asks a script about a subject. It raises `MatchFailed` when the script gives no answer."""

TRUE, FALSE, NEXT = -1, -2, -3
"""Where a program ends, and the way to the instruction that was written last."""


class MatchFailed(Exception):
    """A script that gave no answer about a subject; its message says why, without secrets."""


@attrs.frozen
class Tools:
    """What tests are made with: where paths lead, how an expression becomes a test, how a script is asked."""

    path: Callable[[PathExpr], str]
    expression: Callable[[str], Callable[[str], bool]]
    script: ScriptTest


@attrs.frozen
class Instruction:
    """A test, of facts or of a script, and the ways on."""

    test: Test | ScriptMatcher
    if_true: int
    if_false: int


@attrs.frozen
class Program:
    """A matcher, ready to be asked."""

    instructions: tuple[Instruction, ...]
    script: ScriptTest

    async def matches(self, subject: Subject, when_script_fails: Callable[[ScriptMatcher], bool]) -> bool:
        """Whether a subject matches; `when_script_fails` says what a script that gives no answer counts as."""
        place = len(self.instructions) - 1
        while place >= 0:
            instruction = self.instructions[place]
            test = instruction.test
            if isinstance(test, ScriptMatcher):
                try:
                    answer = await self.script(test, subject)
                except MatchFailed:
                    answer = when_script_fails(test)
            else:
                answer = test(subject)
            place = instruction.if_true if answer else instruction.if_false
        return place == TRUE


def compile_matcher(root: Matcher, tools: Tools) -> Program:
    """A matcher as a program. Raises what `tools` raise for a path or an expression."""
    written: list[Instruction] = []
    waiting: list[tuple[Matcher, int, int]] = [(root, TRUE, FALSE)]
    while waiting:
        matcher, if_true, if_false = waiting.pop()
        last = len(written) - 1
        if_true = last if if_true == NEXT else if_true
        if_false = last if if_false == NEXT else if_false
        if isinstance(matcher, Negated):
            waiting.append((matcher.matcher, if_false, if_true))
        elif isinstance(matcher, Joined):
            on = (NEXT, if_false) if matcher.kind == "all" else (if_true, NEXT)
            waiting += ((one, *on) for one in matcher.matchers[:-1])
            waiting.append((matcher.matchers[-1], if_true, if_false))
        else:
            test = matcher if isinstance(matcher, ScriptMatcher) else _test(matcher, tools)
            written.append(Instruction(test, if_true, if_false))
    return Program(tuple(written), tools.script)


def _test(matcher: Fact | TextMatcher | ResolvedPath | ArgvPrefix | EffectMatcher, tools: Tools) -> Test:
    if isinstance(matcher, Fact):
        return FACTS[matcher.kind]
    if isinstance(matcher, TextMatcher):
        if matcher.kind == "program_regex":
            found = tools.expression(matcher.value)
            return lambda subject: found(subject.command.program)
        compare, value = TEXTS[matcher.kind], matcher.value
        return lambda subject: compare(subject, value)
    if isinstance(matcher, ResolvedPath):
        path = tools.path(matcher.value)
        places = {path, posixpath.normpath(path), canonical(path)}
        return lambda subject: subject.executable.canonical in places
    if isinstance(matcher, ArgvPrefix):
        words = matcher.values
        return lambda subject: subject.command.argv[: len(words)] == words
    name, root = matcher.name, None if matcher.under is None else tools.path(matcher.under)
    return lambda subject: any(
        effect.kind == name and (root is None or (bool(effect.detail) and within(effect.detail, (root,))))
        for effect in subject.effects
    )


FACTS: dict[str, Test] = {
    "any_command": lambda subject: True,
    "trusted_executable": lambda subject: subject.executable.trusted,
    "no_unknown_effects": lambda subject: all(effect.kind != "unknown" for effect in subject.effects),
    "raw_shell": lambda subject: subject.kind == "raw_shell",
}
TEXTS: dict[str, Callable[[Subject, str], bool]] = {
    "program": lambda subject, value: subject.command.program == value,
    "basename": lambda subject, value: posixpath.basename(subject.command.program) == value,
    "argument": lambda subject, value: value in subject.command.arguments,
    "argument_contains": lambda subject, value: any(value in word for word in subject.command.arguments),
}
