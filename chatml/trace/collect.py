"""Collecting a trace while a script runs, in bounded memory however long it runs.

An entry may keep three quarters of what is left of its parent's room inside itself: so the first ones may be large, and
there is room for later ones. Of the entries beside each other the first and the last are kept. Others are only counted,
until one fails: then it is kept with the calls around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from chatml.diagnostics.errors import RuntimeFailure
from chatml.source import Span
from chatml.trace.model import Bounds, Entry, Failure, Kind, LeftOut, Outcome, Trace
from chatml.trace.values import brief
from chatml.values.model import Task, Value

INNERMOST = 6
"""How many calls around a failure are kept where calls are only counted."""

TOO_DEEP = "the calls are nested too deeply"

BUILTIN = object()
"""The key of calls of builtins."""


class Open:
    """An entry that has not ended, and that is only counted unless it fails.

    `depth` and `key` tell whether a call takes the place of this one: how deep it is evaluated, and its code. `args`
    are values. `count` is how many entries inside are left out, `failed` what failed inside, `around` how many calls
    around the failure are part of that.
    """

    __slots__ = ("args", "around", "count", "depth", "failed", "key", "kind", "name", "span")

    def __init__(self, kind: Kind, name: str, args: Sequence[Value], span: Span | None, depth: int, key: object):
        self.kind = kind
        self.name = name
        self.args = args
        self.span = span
        self.depth = depth
        self.key = key
        self.count = 0
        self.failed: Entry | None = None
        self.around = 0

    def inner(self) -> tuple[Entry | LeftOut, ...]:
        """What is kept of the entries inside, and how many are not."""
        left_out = (LeftOut(self.count),) if self.count else ()
        return left_out if self.failed is None else (*left_out, self.failed)


class Kept(Open):
    """An entry that is kept: `args` are texts.

    `room` is how many entries may still be kept inside as the first ones, `tail` how many as the last ones. One of the
    last itself has no room.
    """

    __slots__ = ("first", "is_last", "last", "room", "tail")

    def __init__(self, entry: Open, room: int, tail: int, is_last: bool = False) -> None:
        super().__init__(entry.kind, entry.name, entry.args, entry.span, entry.depth, entry.key)
        self.room = room
        self.tail = tail
        self.is_last = is_last
        self.first: list[Entry] = []
        self.last: deque[Entry] = deque()

    def inner(self) -> tuple[Entry | LeftOut, ...]:
        left_out = (LeftOut(self.count),) if self.count else ()
        return (*self.first, *left_out, *self.last)


class Collector:
    """Takes what runs as it runs."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.stack: list[Open] = []
        self.root = self.new_root()
        self.error: BaseException | None = None
        """What was raised last."""
        self.failure = Failure("", None)
        """How the trace tells of it."""

    def new_root(self) -> Kept:
        return Kept(Open("call", "", (), None, -1, None), self.bounds.entries, self.bounds.last)

    def take(self) -> Trace:
        """The trace since the last one was taken. What is open counts as running, and is not seen again."""
        self.end(0, "running")
        trace = Trace(self.root.inner())
        self.root = self.new_root()
        self.error = None
        return trace

    # What happens

    def note(
        self,
        kind: Kind,
        name: str = "",
        args: Sequence[Value] = (),
        span: Span | None = None,
        *,
        result: str | None = None,
        failure: Failure | None = None,
    ) -> None:
        """An entry that ends at once."""
        parent = self.around()
        if type(parent) is Open:
            parent.count += 1
            return
        self.open(kind, name, args, span)
        self.close(self.stack.pop(), "returned" if failure is None else "failed", result, failure)

    def open(
        self, kind: Kind, name: str, args: Sequence[Value], span: Span | None, depth: int = -1, key: object = None
    ) -> None:
        """An entry that begins."""
        parent = self.around()
        entry = Open(kind, name, args, span, depth, key)
        self.stack.append(self.kept(entry, parent) if type(parent) is Kept else entry)

    def call(self, name: str, args: Sequence[Value], span: Span | None, depth: int, code: object) -> None:
        """A call of a script's function begins; `depth` is that of the calls around it that are not replaced.

        A tail call ends nothing, so that its value is seen to be that of the caller. But of a function that calls
        itself so, also through others, each call is put inside the first one, and ends the one before.
        """
        stack = self.stack
        index = len(stack)
        first = None
        while index and stack[index - 1].depth == depth:
            index -= 1
            if stack[index].key is code:
                first = index
        if first is not None:
            self.end(first + 1, "continued")
        self.open("call", name, args, span, depth, code)

    def returned(self, size: int, value: Value) -> None:
        """All entries but so many end with a value."""
        stack = self.stack
        while len(stack) > size:
            entry = stack.pop()
            if entry.key is BUILTIN and isinstance(value, Task) and not entry.inner():
                self.give_back(entry)  # what the task does is traced when it does it
            else:
                self.close(entry, "returned", self.text(value) if type(entry) is Kept else None)

    def ended(self, size: int, error: BaseException) -> None:
        """All entries but so many end because of what was raised: they fail, if the script is at fault."""
        if len(self.stack) == size:
            return
        if isinstance(error, RuntimeFailure | RecursionError):
            self.end(size, "failed", self.failure_of(error))
        else:
            self.end(size, "running")

    def failed(self, error: RuntimeFailure) -> None:
        """The script failed; noted here if no entry tells of it."""
        if error is not self.error:
            self.note("failure", failure=self.failure_of(error))

    # How it is kept

    def around(self) -> Open:
        """The entry that those which begin now are inside of."""
        return self.stack[-1] if self.stack else self.root

    def kept(self, entry: Open, parent: Kept) -> Open:
        """An entry that is kept, if its parent has room."""
        bounds, stack = self.bounds, self.stack
        if len(stack) >= bounds.depth:
            return entry
        if parent.room > 0 and len(parent.first) < (bounds.first if stack else bounds.entries // 4):
            room = (parent.room - 1) * 3 // 4
            parent.room -= 1 + room
            tail = bounds.last if room > bounds.last else 0
            made = Kept(entry, room - tail, tail)
        elif parent.tail:
            made = Kept(entry, 0, 0, is_last=True)
        else:
            return entry
        made.args = self.texts(entry.args)
        return made

    def give_back(self, entry: Open, used: int = 0) -> None:
        """Give the room that an entry has not used to the one around it."""
        parent = self.around()
        if type(entry) is Kept and type(parent) is Kept and not entry.is_last:
            parent.room += 1 - used + entry.room + entry.tail - len(entry.last)

    def failure_of(self, error: BaseException) -> Failure:
        """How the trace tells of an error; made at its first sight, as its place moves outwards later."""
        if error is not self.error:
            self.error = error
            if isinstance(error, RuntimeFailure):
                self.failure = Failure(error.message, error.span)
            else:
                self.failure = Failure(TOO_DEEP, None)
        return self.failure

    def end(self, size: int, outcome: Outcome, failure: Failure | None = None) -> None:
        """End all entries but so many."""
        while len(self.stack) > size:
            self.close(self.stack.pop(), outcome, None, failure)

    def close(self, entry: Open, outcome: Outcome, result: str | None = None, failure: Failure | None = None) -> None:
        """Hand an entry that has ended to the one around it."""
        parent = self.around()
        if type(entry) is Kept:
            assert type(parent) is Kept
            made = self.make(entry, outcome, result, failure)
            if entry.is_last:
                self.keep_last(parent, made)
            else:
                parent.first.append(made)
                self.give_back(entry, used=1)
        elif outcome == "returned" or outcome == "continued":
            parent.count += 1 + entry.count
        elif entry.failed is None or entry.around < INNERMOST:
            entry.args = self.texts(entry.args)
            self.keep_failed(parent, self.make(entry, outcome, result, failure), entry.around + 1)
        else:
            parent.count += 1 + entry.count
            self.keep_failed(parent, entry.failed, entry.around)

    def make(self, entry: Open, outcome: Outcome, result: str | None, failure: Failure | None) -> Entry:
        args = tuple(entry.args)
        return Entry(entry.kind, entry.name, args, entry.span, outcome, result, failure, entry.inner())

    def keep_failed(self, parent: Open, failed: Entry, around: int) -> None:
        if type(parent) is Kept:
            self.keep_last(parent, failed)
        else:
            parent.failed, parent.around = failed, around

    def keep_last(self, parent: Kept, made: Entry) -> None:
        parent.last.append(made)
        if len(parent.last) > self.bounds.last:
            parent.count += size_of(parent.last.popleft())

    def texts(self, values: Sequence[Value]) -> tuple[str, ...]:
        return tuple([self.text(value) for value in values])

    def text(self, value: Value) -> str:
        return brief(value, self.bounds.length)


def size_of(entry: Entry | LeftOut) -> int:
    """How many entries an entry stands for, itself and all inside it."""
    if isinstance(entry, LeftOut):
        return entry.entries
    return 1 + sum(map(size_of, entry.inner))
