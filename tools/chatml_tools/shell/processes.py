"""Real processes for the moderator of a prompt that is fed a scenario (shell.md section 21)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from chatml_runtime.host.background import BackgroundLoop
from chatml_runtime.script.errors import OperationFailed
from chatml_shell.approvals.broker import GivenAnswers
from chatml_shell.registry.opening import open_registry
from chatml_shell.registry.registry import ProcessError, Registry
from chatml_tools.console import UsageError
from chatml_tools.documents.reading import load_document
from chatml_tools.shell.asking import authoriser_of
from chatml_tools.shell.hosting import make_host, manifest_of

RunProcess = Callable[[str, Sequence[Any]], str]


@contextlib.contextmanager
def moderator_processes(path: str, authorize: str) -> Iterator[RunProcess]:
    """`Process.run` in the runtime that a prompt names for its moderator, while the `with` lasts.

    Raises `UsageError` for a document without `<moderator_runtime>`, and `ShellError` when its manifest is refused.
    Nobody is asked: a command that needs an approval fails.
    """
    document = load_document(path)
    if document.moderator_runtime is None:
        raise UsageError(f"--authorize is for a prompt with <moderator_runtime>, and {path} has none")
    manifest = manifest_of(document)
    host = make_host(manifest, None, GivenAnswers(()))
    with BackgroundLoop() as loop:
        registry, leave = loop.run(entered(open_registry(manifest, host=host, authoriser=authoriser_of(authorize))))

        def run_process(program: str, args: Sequence[Any]) -> str:
            try:
                return loop.run(registry.process_run(program, list(args)))
            except ProcessError as error:
                raise OperationFailed(str(error)) from None

        try:
            yield run_process
        finally:
            loop.run(leave.aclose())


async def entered(
    opened: contextlib.AbstractAsyncContextManager[Registry],
) -> tuple[Registry, contextlib.AsyncExitStack]:
    """An open registry, and what closes it."""
    stack = contextlib.AsyncExitStack()
    return await stack.enter_async_context(opened), stack
