"""One script and its state: a call is a transaction with exactly one action (section 8.1).

The session of a moderator does the work: it buffers the effects of a run and commits them with the new state, or undoes
the run. A script of the shell differs in what it is called with, a record and its state, and in what a commit may hold.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial

from chatmd.elements.script import ScriptLimits
from chatml.diagnostics.errors import ChatmlError
from chatml.types.guided import Entrypoints
from chatml.values.limits import Budget, Limits
from chatml.values.model import Value
from chatml_runtime.script.drivers import drive
from chatml_runtime.script.effects import Effect
from chatml_runtime.script.errors import CommitRejectedError
from chatml_runtime.script.operations import OpDef, OpKind
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.runs import Run
from chatml_runtime.script.scripts import CompiledScript
from chatml_runtime.script.session import Hooks, RunSteps, Session, phase_of
from chatml_runtime.script.transitions import Action
from chatml_shell.extensions.bounds import TooLargeError, check_value
from chatml_shell.extensions.compile import INITIAL, CompiledExtension
from chatml_shell.live.extension import ExtensionFailed

STEPS, DEPTH, TEXT = 10_000_000, 20_000, 10_000_000
"""The bounds on evaluation, as in a moderator (X-05)."""

ACTIONS = {
    "shell_matcher": ("Match", ("yes", "no")),
    "shell_reviewer": ("Review", ("approve", "approve_for", "deny", "rewrite", "defer")),
    "shell_before_interceptor": ("Intercept", ("continue", "rewrite", "respond", "reject")),
    "shell_after_interceptor": ("Result", ("keep", "replace", "reject_disclosure")),
    "shell_effect_analyzer": (
        "Effect",
        (
            "add",
            "read_path",
            "write_path",
            "network",
            "child_processes",
            "arbitrary_code",
            "privilege_change",
            "replace",
        ),
    ),
    "shell_audit_filter": ("Audit", ("keep", "drop_field", "replace")),
}
"""The module of each kind of script, and its actions."""

Save = Callable[[Value], None]
"""Keeps a state, or raises; then the call has not happened."""


class ShellSession(Session):
    """A session whose handler takes a record and the state."""

    def call_steps(self, record: Value, limits: Limits, max_spawns: int, hooks: Hooks) -> RunSteps:
        """What one call does, for a driver."""
        with self._lock:
            running = self._after(Action.HANDLE_EVENT)
            run = Run(phase_of(record), "a command", Budget(limits), max_spawns)
            interpreter = self._interpreter_class(run, self, self._operations, self._instance.machine.call)
            self._status, self._interpreter = running, interpreter
        first = partial(interpreter.start, self._handler, [record, self._state])
        return (yield from self._advance(interpreter, first, hooks))


class Extension:
    """A running script. Calls are serialised; each runs in a thread, so that nothing else waits for it."""

    def __init__(self, compiled: CompiledExtension, function: str, save: Save | None = None) -> None:
        """Runs the top level. Raises `ChatmlError` when it fails."""
        self.limits = compiled.script.limits
        self.save = save
        self._turn = asyncio.Lock()
        module, names = ACTIONS[compiled.script.kind]
        operations = OpRegistry(
            OpDef(f"{module}.{name}", OpKind.LOCAL_TRANSACTIONAL, lambda context, *args: None) for name in names
        )
        script = CompiledScript(compiled.program, session_class=ShellSession)
        entry = Entrypoints(INITIAL, function)
        session = script.instantiate(operations, entrypoints=entry, limits=self._evaluation)
        assert isinstance(session, ShellSession)
        self.session = session

    @property
    def _evaluation(self) -> Limits:
        return Limits(steps=STEPS, depth=DEPTH, text=TEXT, tasks=self.limits.fuel)

    async def call(self, record: Value) -> Effect:
        """The one action that the script takes about a record.

        Raises `ExtensionFailed`, and then the state is as it was.
        """
        async with self._turn:
            try:
                return await asyncio.to_thread(self._call, record, time.monotonic() + self.limits.wall_time)
            except TooLargeError as error:
                raise ExtensionFailed("shell.chatml_codec", str(error)) from None
            except ChatmlError as error:
                raise ExtensionFailed("shell.chatml_runtime", first_line(error)) from None
            except Exception as error:  # whatever else happens in a script must not end the host's call
                raise ExtensionFailed("shell.chatml_runtime", type(error).__name__) from error

    def _call(self, record: Value, deadline: float) -> Effect:
        check_value(record, self.limits, texts=False)
        commit = Commit(self.limits, deadline, self.save)
        hooks = Hooks(commit.check_state, commit.prepare)
        drive(self.session.call_steps(record, self._evaluation, self.limits.max_tasks, hooks))
        self.session.take_committed()
        return commit.action


class Commit:
    """What a commit must be: in time, of one action, and small."""

    def __init__(self, limits: ScriptLimits, deadline: float, save: Save | None) -> None:
        self.limits = limits
        self.deadline = deadline
        self.save = save
        self.state: Value = None
        self.action = Effect("")

    def check_state(self, state: Value) -> None:
        """Bound the new state."""
        check_value(state, self.limits, texts=True)
        self.state = state

    def prepare(self, effects: Sequence[Effect]) -> Callable[[], None]:
        """Refuse a commit that is late, or holds anything but one action; keep the state where it is kept."""
        if time.monotonic() > self.deadline:
            raise CommitRejectedError(f"it took longer than wall_time ({self.limits.wall_time:g} s)")
        if len(effects) != 1:
            raise CommitRejectedError(f"it took {len(effects)} actions, and exactly one is due")
        for arg in effects[0].args:
            check_value(arg, self.limits, texts=True)
        if self.save is not None:
            self.save(self.state)
        self.action = effects[0]
        return lambda: None


def first_line(error: Exception) -> str:
    """The first line of an error's words; the others draw the script."""
    return str(error).partition("\n")[0]
