"""Types that do not fit, in words: what was found, what was wanted, who wanted it, and where they differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chatml.diagnostics.model import Diagnostic, Label
from chatml.diagnostics.suggest import did_you_mean
from chatml.records import frozen
from chatml.syntax import ast
from chatml.types.facts import Mismatch
from chatml.types.model import Fun, Mu
from chatml.types.report.traps import (
    Around,
    assignee_help,
    callee_help,
    export_help,
    json_help,
    operand_help,
    read_help,
    result_help,
    task_help,
    uncalled_help,
    value_help,
)
from chatml.types.report.words import Words, name_of, ordinal, place_of, plural
from chatml.types.show import flatten
from chatml.types.variables import resolved


@frozen
class Told:
    """What a role has to say: the `wanter` wants one type, the `subject` has the other.

    `left` says that the subject's type is the left one. `alone` is the subject in a sentence without the wanter,
    `owner` what has the wanted type, `part` what the subject's labels are. Where neither of two has a say, `rule` is
    what holds of both. `headline` replaces the usual sentence about whole types.
    """

    wanter: str
    subject: str
    left: bool = True
    labels: tuple[Label, ...] = ()
    rule: str | None = None
    headline: str | None = None
    help: str | None = None
    code: str = "type.mismatch"
    alone: str | None = None
    owner: str = "what is wanted"
    part: str = "field"


def describe_mismatch(problem: Mismatch, around: Around, words: Words) -> Diagnostic:
    """The diagnostic of a mismatch."""
    told = ROLES[problem.site.role](problem.site.node, problem, words)
    if problem.kind.startswith("endless"):
        return endless(problem, told, words)
    if problem.kind.startswith("absent"):
        return absent(problem, told, words)
    found, wanted = (problem.left, problem.right) if told.left else (problem.right, problem.left)
    return Diagnostic(
        told.code,
        headline(problem, told, words),
        problem.span,
        labels=told.labels + reasons(problem, told, words),
        notes=(f"{told.wanter} {words.a(wanted)}",) if problem.path and told.rule is None else (),
        help=told.help or value_help(found, wanted, problem, around),
    )


def headline(problem: Mismatch, told: Told, words: Words) -> str:
    """What was wanted and what was found, of the parts that clash when these are not the whole types."""
    if told.headline is not None and not problem.path:
        return told.headline
    wanted, found = clash(problem, told, words)
    if told.rule is not None:
        where = f"these differ in {words.path(problem.path)}" if problem.path else "here are"
        return f"{told.rule}, but {where}{':' if problem.path else ''} {wanted} and {found}"
    if problem.path:
        where = words.path(problem.path)
        return f"{told.alone or told.subject} does not fit: in {where}, {wanted} is wanted, and {found} is found"
    return f"{told.wanter} {wanted}, but {told.subject} is {found}"


def clash(problem: Mismatch, told: Told, words: Words) -> tuple[str, str]:
    """The parts that clash, the wanted one first."""
    wanted, found = (problem.other, problem.part) if told.left else (problem.part, problem.other)
    if problem.kind == "arity" and isinstance(wanted, Fun) and isinstance(found, Fun):
        one, other = [f"a function of {plural(len(type.params), 'parameter')}" for type in (wanted, found)]
        return one, other
    return words.a(wanted), words.a(found)


def reasons(problem: Mismatch, told: Told, words: Words) -> tuple[Label, ...]:
    """Labels at what determined the parts that clash, unless a place is marked already."""
    marked = {(label.span.left, label.span.right) for label in told.labels}
    labels = []
    for span, part in ((problem.left_because, problem.part), (problem.right_because, problem.other)):
        if span is not None and span != problem.span and (span.left, span.right) not in marked:
            marked.add((span.left, span.right))
            labels.append(Label(span, f"this makes it {words.a(part)}"))
    return tuple(labels)


def absent(problem: Mismatch, told: Told, words: Words) -> Diagnostic:
    """A closed row that would have to take up labels: a missing field, one too many, a foreign tag."""
    _, kind, side = problem.kind.split("_")
    lacks = (side == "left") == told.left
    closed = problem.part if side == "left" else problem.other
    known, _ = flatten(getattr(resolved(closed), "row", closed))
    label = problem.labels[0]
    where = f"{words.path(problem.path)} of " if problem.path else ""
    subject, owner = where + (told.alone or told.subject), where + told.owner
    if kind == "tag":
        code = "type.unknown_tag"
        headline = f"`{label} is not a tag of {subject if lacks else owner}, which is {words.spelled(closed)}"
    elif lacks:
        code = "type.missing_field"
        headline = f"{subject} has no {told.part} `{label}`"
    else:
        code = "type.extra_field"
        headline = f"{subject} has the field `{label}`, which {owner} does not have"
    notes = []
    if len(problem.labels) > 1:
        notes.append(f"the same holds for {', '.join([f'`{other}`' for other in problem.labels[1:]])}")
    if kind == "field" and known:
        listed = ", ".join([f"`{name}`" for name in sorted(known)[:MOST_LABELS]])
        more = f" and {len(known) - MOST_LABELS} more" if len(known) > MOST_LABELS else ""
        notes.append(f"{subject if lacks else owner} has {listed}{more}")
    return Diagnostic(
        code,
        headline,
        problem.span,
        labels=told.labels + reasons(problem, told, words),
        notes=tuple(notes),
        help=export_help(problem.site.node, known, words) or did_you_mean(label, known) or told.help,
    )


MOST_LABELS = 12


def endless(problem: Mismatch, told: Told, words: Words) -> Diagnostic:
    """A type that would have to contain itself."""
    if problem.kind == "endless_row":
        return Diagnostic(
            "type.recursive",
            "these are two updates of one record, and each has a field that the other lacks",
            problem.span,
            labels=told.labels,
            notes=(f"the fields are {', '.join([f'`{label}`' for label in problem.labels])}",),
            help="set the same fields in both, or name the type, `type state = { ... }`, and make each update in an "
            "annotated function, `let count : state -> state = fun st -> ...`",
        )
    return Diagnostic(
        "type.recursive",
        "this would need a type that contains itself directly",
        problem.span,
        labels=told.labels,
        notes=(f"{words.show(problem.part)} and {words.show(problem.other)} would have to be the same type",),
        help="a variant or a record may contain itself, a function or an array may not",
    )


# What each role says. The first parameter is the node that plays the role.


def operand(node: Any, problem: Mismatch, words: Words) -> Told:
    if isinstance(node, ast.Neg):
        expr, subject = node.operand, "its operand"
    else:
        expr = node.right if problem.site.index else node.left
        subject = "its right operand" if problem.site.index else "its left operand"
    label = Label(place_of(expr), f"this is {words.a(problem.left)}")
    return Told(
        f"`{node.op if not isinstance(node, ast.And | ast.Or) else SYMBOLS[node.__class__]}` wants",
        subject,
        labels=(label,),
        help=operand_help(node, resolved(problem.left), resolved(problem.right)),
    )


SYMBOLS: dict[type, str] = {ast.And: "&&", ast.Or: "||"}


def comparison(node: ast.Binary, problem: Mismatch, words: Words) -> Told:
    left, right = words.a(problem.left), words.a(problem.right)
    return Told(
        "its left operand is",
        "its right operand",
        left=False,
        labels=(Label(place_of(node.left), f"this is {left}"), Label(place_of(node.right), f"this is {right}")),
        rule=f"`{node.op}` compares values of one type",
    )


def condition(node: ast.If | ast.While, problem: Mismatch, words: Words) -> Told:
    name = "if" if isinstance(node, ast.If) else "while"
    label = Label(place_of(node.condition), f"this is {words.a(problem.left)}")
    return Told(f"`{name}` wants", "its condition", labels=(label,))


def branches(node: ast.If, problem: Mismatch, words: Words) -> Told:
    then, otherwise = words.a(problem.left), words.a(problem.right)
    return Told(
        "the first branch is",
        "the second branch",
        left=False,
        labels=(Label(place_of(node.then), f"this is {then}"), Label(place_of(node.otherwise), f"this is {otherwise}")),
        rule="the branches of `if` have one type",
    )


def arms(node: ast.Match, problem: Mismatch, words: Words) -> Told:
    index = problem.site.index
    before, here = words.a(problem.left), words.a(problem.right)
    return Told(
        "the arms before give",
        "this arm",
        left=False,
        labels=(
            Label(node.arms[index - 1].body.span, f"this is {before}"),
            Label(node.arms[index].body.span, f"this is {here}"),
        ),
        rule="the arms of `match` have one type",
    )


def pattern(node: ast.Match, problem: Mismatch, words: Words) -> Told:
    label = Label(place_of(node.scrutinee), f"this is {words.a(problem.left)}")
    help = None
    if problem.kind == "absent_field_right":
        help = "a pattern names every field, or ends in `; _`"
    return Told(
        "the value that is matched is",
        "this pattern",
        left=False,
        labels=(label,),
        owner="the matched value",
        help=help,
    )


def argument(node: ast.Call, problem: Mismatch, words: Words) -> Told:
    index = problem.site.index
    if node.form is not None and index == 1 and isinstance(node.args[1], ast.Lambda):
        return continuation(node, node.args[1], problem, words)
    which = "argument" if len(node.args) == 1 else f"{ordinal(index)} argument"
    name = callee_name(node)
    label = Label(place_of(node.args[index]), f"this is {words.a(problem.right)}")
    return Told(
        f"{name} wants",
        f"its {which}",
        left=False,
        labels=(label,),
        alone=f"the {which} of {name}",
        owner=f"the parameter of {name}",
        help=uncalled_help(node, resolved(problem.right)) if index == 0 else task_help(node, index),
    )


def continuation(node: ast.Call, function: ast.Lambda, problem: Mismatch, words: Words) -> Told:
    """What follows `let*` and `let+`, which is written without a function."""
    type = resolved(problem.right)
    found = words.a(type.result) if isinstance(type, Fun) else words.a(type)
    return Told(
        f"`{node.form}` wants",
        "what follows",
        left=False,
        labels=(Label(place_of(function.body), f"this is {found}"),),
        alone=f"what follows `{node.form}`",
        help=result_help(function, problem) or task_help(node, 1),
    )


def callee(node: ast.Call, problem: Mismatch, words: Words) -> Told:
    function, given = resolved(problem.left), len(node.args)
    name = callee_name(node)
    label = Label(place_of(node.function), f"this is {words.a(problem.left)}")
    if isinstance(function, Mu):
        function = resolved(function.body)
    if isinstance(function, Fun):
        headline = f"{name} takes {plural(len(function.params), 'argument')} and gets {given or 'none'}"
        code = "type.arity"
    else:
        headline = f"{name} is called, but it is {words.a(problem.left)}"
        code = "type.not_a_function"
    help = callee_help(node, function)
    return Told(f"{name} is", "what it gets", left=False, labels=(label,), headline=headline, help=help, code=code)


def callee_name(node: ast.Call) -> str:
    """How to speak of what is called."""
    if node.form is not None:
        return f"`{node.form}`"
    name = name_of(node.function)
    return "this function" if name is None else f"`{name}`"


def element(node: ast.ArrayLit, problem: Mismatch, words: Words) -> Told:
    index = problem.site.index
    first, here = words.a(problem.right), words.a(problem.left)
    return Told(
        "the elements before are",
        f"the {ordinal(index)} element",
        labels=(
            Label(place_of(node.items[index - 1]), f"this is {first}"),
            Label(place_of(node.items[index]), f"this is {here}"),
        ),
        rule="the elements of an array have one type",
        owner="the one before",
    )


def index(node: ast.ArrayGet | ast.ArraySet, problem: Mismatch, words: Words) -> Told:
    label = Label(place_of(node.index), f"this is {words.a(problem.left)}")
    is_key = isinstance(node.index, ast.String) and not isinstance(node.array, ast.ArrayLit)
    help = json_help(node, node.index.value) if is_key and isinstance(node.index, ast.String) else None
    return Told("an index is", "this one", labels=(label,), help=help)


def indexed(node: ast.ArrayGet | ast.ArraySet, problem: Mismatch, words: Words) -> Told:
    label = Label(place_of(node.array), f"this is {words.a(problem.left)}")
    headline = f"only arrays have elements, and this is {words.a(problem.left)}"
    return Told("`[...]` wants", "this", labels=(label,), headline=headline)


def stored(node: ast.ArraySet, problem: Mismatch, words: Words) -> Told:
    label = Label(place_of(node.value), f"this is {words.a(problem.right)}")
    return Told(
        "an element of this array is", "the new one", left=False, labels=(label,), owner="an element of this array"
    )


def field(node: ast.FieldGet, problem: Mismatch, words: Words) -> Told:
    base = words.a(problem.left)
    module = isinstance(node.record, ast.Name) and node.record.name[0].isupper()
    return Told(
        "`.` wants",
        f"`{node.record.name}`" if isinstance(node.record, ast.Name) else "this record",
        labels=(Label(place_of(node.record), "this is a module" if module else f"this is {base}"),),
        headline=f"only records and modules have fields, and this is {base}",
        help=read_help(node, resolved(problem.left)),
        part="export" if module else "field",
    )


def update(node: ast.RecordUpdate, problem: Mismatch, words: Words) -> Told:
    label = Label(place_of(node.record), f"this is {words.a(problem.left)}")
    headline = f"only a record can be copied with other fields, and this is {words.a(problem.left)}"
    return Told("`with` wants", "this", labels=(label,), headline=headline)


def dereferenced(node: ast.Deref, problem: Mismatch, words: Words) -> Told:
    label = Label(place_of(node.ref), f"this is {words.a(problem.right)}")
    headline = f"`!` reads a ref, and this is {words.a(problem.right)}"
    return Told(
        "`!` wants",
        "this",
        left=False,
        labels=(label,),
        headline=headline,
        help=read_help(node, resolved(problem.right)),
    )


def assignee(node: ast.SetRef, problem: Mismatch, words: Words) -> Told:
    label = Label(place_of(node.ref), f"this is {words.a(problem.right)}")
    headline = f"`:=` sets a ref, and this is {words.a(problem.right)}"
    return Told("`:=` wants", "its left side", left=False, labels=(label,), headline=headline, help=assignee_help(node))


def assigned(node: ast.SetRef, problem: Mismatch, words: Words) -> Told:
    label = Label(place_of(node.value), f"this is {words.a(problem.right)}")
    return Told(
        "the ref holds",
        "its new content",
        left=False,
        labels=(label,),
        alone="the new content of the ref",
        owner="the content of the ref",
    )


def annotated(node: ast.Annot, problem: Mismatch, words: Words) -> Told:
    label = Label(node.type.span, f"this says {words.a(problem.right)}")
    return Told("the annotation says", "this value", labels=(label,), owner="the annotation")


def annotated_result(node: ast.Annot, problem: Mismatch, words: Words) -> Told:
    labels = [Label(node.type.span, f"this says that the result is {words.a(problem.right)}")]
    if isinstance(node.value, ast.Lambda):
        labels.append(Label(node.value.body.span, f"this is {words.a(problem.left)}"))
    return Told("the annotation wants", "the result", labels=tuple(labels), owner="the annotation")


def recursive(node: ast.LetRec | ast.Binding, problem: Mismatch, words: Words) -> Told:
    binding = node.bindings[problem.site.index] if isinstance(node, ast.LetRec) else node
    label = Label(binding.name.span, f"this is {words.a(problem.right)}")
    return Told(f"`{binding.name.name}` is used as", "its definition", left=False, labels=(label,))


def module(node: ast.ModuleStatement, problem: Mismatch, words: Words) -> Told:
    return Told(f"`{node.name.name}` is used inside its own body as", "the finished module", left=False)


def contract(node: ast.Ident, problem: Mismatch, words: Words) -> Told:
    return Told("the host wants", f"`{node.name}`")


Role = Callable[[Any, Mismatch, Words], Told]
ROLES: dict[str, Role] = {
    role.__name__: role
    for role in (
        operand,
        comparison,
        condition,
        branches,
        arms,
        pattern,
        argument,
        callee,
        element,
        index,
        indexed,
        stored,
        field,
        update,
        dereferenced,
        assignee,
        assigned,
        annotated,
        annotated_result,
        recursive,
        module,
        contract,
    )
}
"""What each role of `faults.Site` says."""
