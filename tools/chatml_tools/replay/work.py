"""Working through transcripts, in this process or in several; one that is at fault does not stop the others."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context

from chatmd.report.problems import ChatmdError
from chatml.diagnostics.errors import ChatmlError, CompileError, RuntimeFailure
from chatml.diagnostics.model import Diagnostic
from chatml.records import frozen
from chatml_runtime.replay import Replayed, replay
from chatml_runtime.scenario import read_scenario
from chatml_runtime.scenario.model import Scenario
from chatml_runtime.script.scripts import ScriptArtifact, compile_script
from chatml_tools.console import UsageError
from chatml_tools.documents.reading import FORMATS, SUFFIXES, ConversationError, format_of
from chatml_tools.scripts import SURFACES, read_data, read_source

IN_FOLDERS = tuple(suffix for suffix in SUFFIXES if suffix != ".md")
"""What counts as a transcript in a folder; pages of Markdown are named one by one."""

CHUNK = 8
"""How many transcripts a process takes at a time."""

INTERRUPTS = {signal.SIGINT}

AHEAD = 4
"""How many times as much is given to each process before a result is awaited: what is done waits in memory."""


@frozen
class Order:
    """What is to be done with every transcript: the scripts to replay it to, one or two, and how."""

    scripts: tuple[str, ...]
    surface: str | None = None
    format: str | None = None
    setting: str | None = None
    answer: str | None = None


@frozen
class Result:
    """What came of a transcript: one replay per script, or why there is none."""

    path: str
    replays: tuple[Replayed, ...] = ()
    problem: str | None = None


class Worker:
    """Compiles the scripts of an order, and replays transcripts to them."""

    def __init__(self, order: Order) -> None:
        """`CompileError` for a script or a setting at fault, `UsageError` for one that cannot be read."""
        self.order = order
        self.artifacts = [
            ScriptArtifact("main", compile_script(read_source(script), surface=SURFACES[order.surface or "ui"]()))
            for script in order.scripts
        ]
        self.setting = read_setting(order.setting)

    def work(self, path: str) -> Result:
        """Replay one transcript to each script."""
        order = self.order
        try:
            read, _ = FORMATS[format_of(path, order.format)]
            items = read(path)
            replays = [
                replay(artifact, items, setting=self.setting, answer=order.answer) for artifact in self.artifacts
            ]
            return Result(path, tuple(replays))
        except (ChatmdError, CompileError) as error:
            return Result(path, problem=where(error.diagnostics))
        except RuntimeFailure as failure:
            return Result(path, problem=where([failure.diagnostic]))
        except (ChatmlError, ConversationError, UsageError) as error:
            return Result(path, problem=str(error))
        except RecursionError:
            return Result(path, problem=f"{path} is nested too deeply")


def where(diagnostics: Sequence[Diagnostic]) -> str:
    """The first of some diagnostics in one line."""
    first = diagnostics[0]
    if first.span is None:
        return first.message
    return f"{first.span.source.name}:{first.span.start.place}: {first.message}"


def read_setting(path: str | None) -> Scenario:
    """The scenario whose session and host are used."""
    return Scenario(events=()) if path is None else read_scenario(read_data(path))


def find_transcripts(paths: Iterable[str]) -> list[str]:
    """The files that are named, and those in the folders that are. `UsageError` if there are none."""
    found = {path: None for named in paths for path in transcripts_at(named)}
    if not found:
        raise UsageError(f"no transcript found: their names end in one of {', '.join(IN_FOLDERS)}")
    return list(found)


def transcripts_at(named: str) -> Iterator[str]:
    if not os.path.isdir(named):
        yield named
        return
    for folder, folders, files in os.walk(named):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(IN_FOLDERS))


def work_through(order: Order, paths: Sequence[str], jobs: int) -> Iterator[Result]:
    """The results, in the order of the paths. Raises what `Worker` raises, before any result."""
    own = Worker(order)
    if jobs <= 1 or len(paths) < 2:
        yield from map(own.work, paths)
        return
    size = max(1, min(CHUNK, len(paths) // jobs))
    pool = ProcessPoolExecutor(min(jobs, len(paths)), get_context("spawn"), prepare, (order,))
    begun: deque[Future[list[Result]]] = deque()
    try:
        for first in range(0, len(paths), size):
            with interrupts_waiting():  # a process that is started here must not tell of an interrupt
                begun.append(pool.submit(work_here, paths[first : first + size]))
            if len(begun) > jobs * AHEAD:
                yield from begun.popleft().result()
        while begun:
            yield from begun.popleft().result()
    except BrokenProcessPool:
        raise UsageError("a process died; leave out --jobs to see which transcript it had") from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def interrupts_waiting() -> Iterator[None]:
    """For so long, Ctrl-C waits: here until the end of this context, in a process that is started until it is ready."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)


WORKERS: list[Worker] = []
"""The one of this process, if it works for another."""


def prepare(order: Order) -> None:
    """Get a process ready to work for another one; an interrupt ends it without a word."""
    WORKERS[:] = [Worker(order)]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)


def work_here(paths: Sequence[str]) -> list[Result]:
    return [WORKERS[0].work(path) for path in paths]
