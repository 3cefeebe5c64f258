"""What a handler gives in place of the next state, in words (X-47)."""

from __future__ import annotations

from chatml.diagnostics.model import Diagnostic, Label
from chatml.diagnostics.suggest import did_you_mean
from chatml.types.facts import Mismatch
from chatml.types.model import Con, Type, Unit
from chatml.types.names import is_same
from chatml.types.report.words import Words, place_of
from chatml.types.show import flatten
from chatml.types.variables import resolved, unfolded

LONGEST = 40
"""How long a text may be that is written over again in a help."""


def describe_next_state(problem: Mismatch, words: Words) -> Diagnostic:
    """The diagnostic of an expression that should give the next state and does not."""
    found, wanted = resolved(problem.left), resolved(problem.right)
    labels = () if problem.right_because is None else (Label(problem.right_because, "the first state"),)
    if not isinstance(wanted, Con):
        return after_let_plus(problem, found, wanted, labels, words)
    state = wanted.args[0]
    if isinstance(found, Con):
        return another_state(problem, found.args[0], state, labels, words)
    text = text_of(problem)
    if is_same(found, state) and found is not Unit:
        message = "a handler returns a task of the next state, and this is the state itself"
        help = f"write `Task.pure({text})`" if text else "wrap it: `Task.pure(…)`"
    elif found is Unit:
        message = f"a handler returns a task of the next state, {words.a(state)}, and this gives nothing but unit"
        help = "go on to the next state: end with `; Task.pure(st)`"
    else:
        message = f"a handler returns a task of the next state, {words.a(state)}, and this is {words.a(found)}"
        help = "return `Task.pure(st)`, with the next state for `st`"
    return Diagnostic("type.entry_point", message, problem.span, help=help)


def after_let_plus(problem: Mismatch, found: Type, state: Type, labels: tuple[Label, ...], words: Words) -> Diagnostic:
    """`let+ … in` is followed by the next state, without a task."""
    if isinstance(found, Con) and is_same(found.args[0], state):
        message = "`let+` is followed by the next state itself, and this is a task of it"
        help = "write `let*` for `let+`, or the state without `Task.pure`"
        return Diagnostic("type.entry_point", message, problem.span, help=help)
    return another_state(problem, found, state, labels, words)


def another_state(problem: Mismatch, found: Type, state: Type, labels: tuple[Label, ...], words: Words) -> Diagnostic:
    """What is given as the next state is of another type than the first one."""
    if problem.kind.startswith("absent_field"):
        return other_fields(problem, state, labels, words)
    text = text_of(problem)
    help = None
    if resolved(found) is Unit and isinstance(resolved(problem.left), Con):
        message = f"the task gives unit here, and the next state is wanted, {words.a(state)}"
        help = f"go on to the next state: `let+ () = {text} in st`" if text else "go on: `let+ () = … in st`"
    else:
        message = f"the next state is {words.a(found)} here, and the state is {words.a(state)}"
        if len(problem.path) > 1:
            message += f": they differ in {words.path(problem.path[1:])}"
    return Diagnostic("type.entry_point", message, problem.span, labels=labels, help=help)


def other_fields(problem: Mismatch, state: Type, labels: tuple[Label, ...], words: Words) -> Diagnostic:
    """The next state has fields that the state does not have, or lacks some."""
    known, _ = flatten(getattr(unfolded(resolved(state)), "row", state))
    label = problem.labels[0]
    fields = ", ".join([f"`{name}`" for name in sorted(known)])
    notes = (f"the state is {words.a(state)}; it has {fields}",) if known else ()
    if problem.kind.endswith("right"):
        message, help = f"the state has no field `{label}`", did_you_mean(label, known)
        help = help or f"add `{label}` to `initial_state`, or use a field that it has"
        return Diagnostic("type.extra_field", message, problem.span, labels=labels, notes=notes, help=help)
    message = f"the next state lacks the field `{label}`"
    help = "`{ st with … }` keeps the fields that do not change"
    return Diagnostic("type.missing_field", message, problem.span, labels=labels, notes=notes, help=help)


def text_of(problem: Mismatch) -> str | None:
    """The text of what is at fault, if it is short."""
    text = place_of(problem.site.node).text  # type: ignore[arg-type]
    return text if len(text) <= LONGEST and "\n" not in text else None
