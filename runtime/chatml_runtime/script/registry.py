"""The operations that a session knows, by name (runtime.md section 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from chatml_runtime.script import problems
from chatml_runtime.script.errors import InstantiationError
from chatml_runtime.script.operations import OpCallable, OpDef, OpKind, allow_all_phases, require_phases
from chatml_runtime.script.standard import Handlers, standard_operations


class OpRegistry:
    """A set of operations with distinct names. A session keeps what the registry holds when it is made."""

    def __init__(self, ops: Iterable[OpDef] = ()) -> None:
        """`InstantiationError`, naming each name once and sorted, if two operations share a name."""
        self._ops: dict[str, OpDef] = {}
        self._add(ops)

    @classmethod
    def standard(cls, handlers: Handlers | None = None) -> OpRegistry:
        """The standard operations, carried out by a host's handlers (section 4.3).

        >>> OpRegistry.standard().get("Turn.halt").kind.value
        'local_transactional'
        """
        return cls(standard_operations(handlers))

    def replacing(self, *ops: OpDef) -> OpRegistry:
        """A registry with these operations besides, or in place of those with the same name."""
        given = OpRegistry(ops)
        return OpRegistry({**self._ops, **given._ops}.values())

    def op(self, name: str, kind: OpKind, phases: Sequence[str] | None = None) -> Callable[[OpCallable], OpCallable]:
        """A decorator that adds a function as an operation, allowed in the given phases or in all.

        >>> registry = OpRegistry()
        >>> @registry.op("Clock.now", OpKind.EXTERNAL_SYNC)
        ... def now(context):
        ...     return 0
        >>> [op.name for op in registry]
        ['Clock.now']
        """

        def add(call: OpCallable) -> OpCallable:
            check = allow_all_phases if phases is None else require_phases(*phases)
            self._add([OpDef(name, kind, call, check)])
            return call

        return add

    def get(self, name: str) -> OpDef | None:
        """The operation of that name, or None."""
        return self._ops.get(name)

    def __iter__(self) -> Iterator[OpDef]:
        return iter(tuple(self._ops.values()))

    def __len__(self) -> int:
        return len(self._ops)

    def _add(self, ops: Iterable[OpDef]) -> None:
        added = tuple(ops)
        counts = Counter(op.name for op in (*self._ops.values(), *added))
        duplicates = sorted(name for name, count in counts.items() if count > 1)
        if duplicates:
            raise InstantiationError(problems.duplicate_operations(duplicates), code="runtime.duplicate_operations")
        self._ops.update((op.name, op) for op in added)
