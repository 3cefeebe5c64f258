"""What a right script says and does not do (X-48): warnings of a script without errors.

In come the tree and the types; out come warnings, each at its place. They never change what is accepted: a task that is
dropped, a tag that no event has and an arm that fell into another match are legal, and never what was meant.

    | `Pre_tool_call(call) -> Tool.reject("no"); Task.pure(st)    (* the call runs: this task is never run *)

One line is excused by `(* allow CODE: reason *)`, on it or right above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chatml.stack import deep
from chatml.types.checked import Checked
from chatml.types.environment import Environment
from chatml.types.guided import STANDARD, Entrypoints
from chatml.types.warnings.bindings import unused_bindings
from chatml.types.warnings.dropped import dropped_values
from chatml.types.warnings.events import event_warnings
from chatml.types.warnings.excuses import excuse
from chatml.types.warnings.layout import lone_arguments, suspicious_escapes, swallowed_arms

if TYPE_CHECKING:
    from chatml.diagnostics.model import Diagnostic

__all__ = ["find_warnings"]


def find_warnings(
    checked: Checked,
    environment: Environment,
    names: Entrypoints = STANDARD,
    more: tuple[Diagnostic, ...] = (),
    hosted: bool = False,
) -> tuple[Diagnostic, ...]:
    """Every warning of a script without errors, in order of place, without those that it excuses.

    `more` are warnings that were found elsewhere; they can be excused, too. `hosted`: a host is at hand, which may
    deliver events of its own.
    """
    with deep():
        found = [*more, *warnings_of(checked, environment, names, hosted)]
    found.sort(key=lambda each: -1 if each.span is None else each.span.left)
    return excuse(checked.script, found)


def warnings_of(checked: Checked, environment: Environment, names: Entrypoints, hosted: bool) -> Iterator[Diagnostic]:
    yield from lone_arguments(checked)
    yield from dropped_values(checked)
    yield from unused_bindings(checked)
    yield from swallowed_arms(checked.script)
    yield from suspicious_escapes(checked.script)
    if environment.host is not None:
        yield from event_warnings(checked, environment.host, names, hosted)
