"""Types that do not fit, in words: what was found, what was wanted, who wanted it, and where they differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from chatml import ast
from chatml.diagnostics import Diagnostic, Label
from chatml.suggest import did_you_mean
from chatml.types.faults import Mismatch
from chatml.types.model import Fun, Mu
from chatml.types.show import flatten
from chatml.types.traps import Around, callee_help, operand_help, read_help, value_help
from chatml.types.words import Words, ordinal, plural, resolved


@attrs.frozen
class Told:
    """What a role has to say: the `wanter` wants one type, the `subject` has the other.

    `left` says that the subject's type is the left one. `alone` is the subject in a sentence without the wanter,
    `owner` what has the wanted type, `part` what the subject's labels are. `headline` replaces the usual sentence.
    """

    wanter: str
    subject: str
    left: bool = True
    labels: tuple[Label, ...] = ()
    headline: str | None = None
    help: str | None = None
    code: str = "type.mismatch"
    alone: str | None = None
    owner: str = "what is wanted"
    part: str = "field"


def describe_mismatch(problem: Mismatch, around: Around) -> Diagnostic:
    """The diagnostic of a mismatch."""
    words = Words()
    told = ROLES[problem.site.role](problem.site.node, problem, words)
    if problem.kind.startswith("endless"):
        return endless(problem, told, words)
    if problem.kind.startswith("absent"):
        return absent(problem, told, words)
    found, wanted = (problem.left, problem.right) if told.left else (problem.right, problem.left)
    headline = told.headline or f"{told.wanter} {words.a(wanted)}, but {told.subject} is {words.a(found)}"
    return Diagnostic(
        told.code,
        headline,
        problem.span,
        labels=told.labels + reasons(problem, told, words),
        notes=difference(problem, told, words),
        help=told.help or value_help(found, wanted, problem, around),
    )


def reasons(problem: Mismatch, told: Told, words: Words) -> tuple[Label, ...]:
    """Labels at what determined the parts that clash, unless a place is marked already."""
    marked = {(label.span.left, label.span.right) for label in told.labels}
    labels = []
    for span, part in ((problem.left_because, problem.part), (problem.right_because, problem.other)):
        if span is not None and span != problem.span and (span.left, span.right) not in marked:
            marked.add((span.left, span.right))
            labels.append(Label(span, f"this makes it {words.a(part)}"))
    return tuple(labels)


def difference(problem: Mismatch, told: Told, words: Words) -> tuple[str, ...]:
    """A note on the parts that clash, when they are not the whole types."""
    found, wanted = (problem.part, problem.other) if told.left else (problem.other, problem.part)
    if problem.kind == "arity":
        if not problem.path and told.code == "type.arity":
            return ()
        counts = [plural(len(type.params), "parameter") for type in (wanted, found) if isinstance(type, Fun)]
        clash = f"a function of {counts[0]} is wanted, and this one has {counts[1]}"
    elif problem.path or problem.kind == "payload":
        clash = f"{words.a(wanted)} is wanted, and {words.a(found)} is found"
    else:
        return ()
    return (f"in {words.path(problem.path)}: {clash}" if problem.path else clash,)


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
        headline = f"`{label} is no tag of {subject if lacks else owner}, which is {words.show(closed)}"
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
        help=did_you_mean(label, known) or told.help,
    )


MOST_LABELS = 12


def endless(problem: Mismatch, told: Told, words: Words) -> Diagnostic:
    """A type that would have to contain itself."""
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
    label = Label(expr.span, f"this is {words.a(problem.left)}")
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
        labels=(Label(node.left.span, f"this is {left}"), Label(node.right.span, f"this is {right}")),
        headline=f"`{node.op}` compares values of one type, but these are {left} and {right}",
    )


def condition(node: ast.If | ast.While, problem: Mismatch, words: Words) -> Told:
    name = "if" if isinstance(node, ast.If) else "while"
    label = Label(node.condition.span, f"this is {words.a(problem.left)}")
    return Told(f"`{name}` wants", "its condition", labels=(label,))


def branches(node: ast.If, problem: Mismatch, words: Words) -> Told:
    then, otherwise = words.a(problem.left), words.a(problem.right)
    return Told(
        "the first branch is",
        "the second branch",
        left=False,
        labels=(Label(node.then.span, f"this is {then}"), Label(node.otherwise.span, f"this is {otherwise}")),
        headline=f"the branches of `if` have different types: {then} and {otherwise}",
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
        headline=f"the arms of `match` have different types: {before}, and here {here}",
    )


def pattern(node: ast.Match, problem: Mismatch, words: Words) -> Told:
    label = Label(node.scrutinee.span, f"this is {words.a(problem.left)}")
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
    which = "argument" if len(node.args) == 1 else f"{ordinal(index)} argument"
    name = callee_name(node)
    label = Label(node.args[index].span, f"this is {words.a(problem.right)}")
    return Told(
        f"{name} wants",
        f"its {which}",
        left=False,
        labels=(label,),
        alone=f"the {which} of {name}",
        owner=f"the parameter of {name}",
    )


def callee(node: ast.Call, problem: Mismatch, words: Words) -> Told:
    function, given = resolved(problem.left), len(node.args)
    name = callee_name(node)
    label = Label(node.function.span, f"this is {words.a(problem.left)}")
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
    text = node.function.span.text
    return f"`{text}`" if len(text) <= LONGEST_NAME and "\n" not in text else "this function"


LONGEST_NAME = 30


def element(node: ast.ArrayLit, problem: Mismatch, words: Words) -> Told:
    index = problem.site.index
    first, here = words.a(problem.right), words.a(problem.left)
    return Told(
        "the elements before are",
        f"the {ordinal(index)} element",
        labels=(
            Label(node.items[index - 1].span, f"this is {first}"),
            Label(node.items[index].span, f"this is {here}"),
        ),
        headline=f"the elements of an array have one type, but here are {first} and {here}",
        owner="the one before",
    )


def index(node: ast.ArrayGet | ast.ArraySet, problem: Mismatch, words: Words) -> Told:
    return Told("an index is", "this one", labels=(Label(node.index.span, f"this is {words.a(problem.left)}"),))


def indexed(node: ast.ArrayGet | ast.ArraySet, problem: Mismatch, words: Words) -> Told:
    label = Label(node.array.span, f"this is {words.a(problem.left)}")
    headline = f"only arrays have elements, and this is {words.a(problem.left)}"
    return Told("`[...]` wants", "this", labels=(label,), headline=headline)


def stored(node: ast.ArraySet, problem: Mismatch, words: Words) -> Told:
    label = Label(node.value.span, f"this is {words.a(problem.right)}")
    return Told(
        "an element of this array is", "the new one", left=False, labels=(label,), owner="an element of this array"
    )


def field(node: ast.FieldGet, problem: Mismatch, words: Words) -> Told:
    base = words.a(problem.left)
    module = isinstance(node.record, ast.Name) and node.record.name[0].isupper()
    return Told(
        "`.` wants",
        f"`{node.record.span.text}`" if isinstance(node.record, ast.Name) else "this record",
        labels=(Label(node.record.span, "this is a module" if module else f"this is {base}"),),
        headline=f"only records and modules have fields, and this is {base}",
        help=read_help(node, resolved(problem.left)),
        part="export" if module else "field",
    )


def update(node: ast.RecordUpdate, problem: Mismatch, words: Words) -> Told:
    label = Label(node.record.span, f"this is {words.a(problem.left)}")
    headline = f"only a record can be copied with other fields, and this is {words.a(problem.left)}"
    return Told("`with` wants", "this", labels=(label,), headline=headline)


def dereferenced(node: ast.Deref, problem: Mismatch, words: Words) -> Told:
    label = Label(node.ref.span, f"this is {words.a(problem.right)}")
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
    label = Label(node.ref.span, f"this is {words.a(problem.right)}")
    headline = f"`:=` sets a ref, and this is {words.a(problem.right)}"
    return Told("`:=` wants", "its left side", left=False, labels=(label,), headline=headline)


def assigned(node: ast.SetRef, problem: Mismatch, words: Words) -> Told:
    label = Label(node.value.span, f"this is {words.a(problem.right)}")
    return Told("the ref holds", "its new content", left=False, labels=(label,), owner="the content of the ref")


def annotated(node: ast.Annot, problem: Mismatch, words: Words) -> Told:
    label = Label(node.type.span, f"this says {words.a(problem.right)}")
    return Told("the annotation says", "this", labels=(label,), owner="the annotation")


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
