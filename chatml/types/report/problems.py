"""The problems of types in words (X-13): one wording for each fact, with its code, labels, notes and help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chatml.diagnostics.model import Diagnostic, Label
from chatml.records import evolve
from chatml.source import Span
from chatml.syntax import ast
from chatml.types.facts import (
    BadPattern,
    DuplicateArm,
    DuplicateBinder,
    DuplicateLabel,
    DuplicateType,
    LambdaArity,
    LooseAlias,
    Mismatch,
    MissingCases,
    NoEquality,
    NotAModule,
    NotRecursive,
    OpenShadows,
    PrimitiveRedefined,
    Problem,
    RedundantArm,
    Site,
    TooDeep,
    TooLarge,
    UnboundBinder,
    UnguardedType,
    UnknownConstructor,
    UnknownType,
    UnknownVariable,
)
from chatml.types.model import Array, Con, Fun, Ref, Type
from chatml.types.names import NO_NAMES, TypeNames
from chatml.types.report.mismatches import describe_mismatch
from chatml.types.report.next_state import describe_next_state
from chatml.types.report.scopes import out_of_scope_help
from chatml.types.report.traps import Around, constructor_help, find_juxtaposed, nodes_around, type_help, variable_help
from chatml.types.report.words import Words, column_of_bar, plural, quoted
from chatml.types.variables import resolved


def describe(problem: Problem, script: ast.Script, names: TypeNames = NO_NAMES) -> Diagnostic:
    """The diagnostic of one problem of a script; its types are told by their names."""
    words = Words(names)
    match problem:
        case Mismatch(site=Site("next_state")):
            return describe_next_state(problem, words)
        case Mismatch(span):
            return describe_mismatch(problem, nodes_around(script, span), words)
        case UnknownVariable(span):
            return unknown_variable(problem, nodes_around(script, span), script)
        case OpenShadows() | NotAModule():
            return faulty_open(problem)
        case BadPattern():
            return bad_pattern(problem)
        case UnknownType() | UnknownConstructor():
            return unknown_type(problem)
        case PrimitiveRedefined() | DuplicateType() | UnguardedType() | UnboundBinder() | LooseAlias():
            return faulty_declaration(problem)
        case DuplicateLabel() | DuplicateBinder():
            return repetition(problem)
        case NoEquality():
            return no_equality(problem, words)
        case LambdaArity() | NotRecursive():
            return faulty_function(problem, words)
        case DuplicateArm() | RedundantArm():
            return needless_arm(problem, nodes_around(script, problem.span))
        case MissingCases():
            return missing_cases(problem, words)
        case TooDeep(span):
            return Diagnostic("syntax.too_deep", "this statement is nested too deeply to be checked", span)
        case TooLarge(span):
            return Diagnostic(
                "type.too_large",
                "the types of this script grow too large to be checked",
                span,
                help="a value made of itself twice doubles its type; annotate what is made, or make it by a function",
            )


def unknown_variable(problem: UnknownVariable, around: Around, script: ast.Script) -> Diagnostic:
    kind = "module" if problem.name[0].isupper() else "variable"
    return Diagnostic(
        "type.unknown_variable",
        f"unknown {kind} `{problem.name}`",
        problem.span,
        help=out_of_scope_help(problem, script) or variable_help(problem, around),
    )


def bad_pattern(problem: BadPattern) -> Diagnostic:
    return Diagnostic(
        "type.bad_pattern",
        f"this is not a pattern: {problem.reason}",
        problem.span,
        labels=(Label(inside_literal(problem.span, problem.position), "here"),),
        help="patterns are those of RE2; what stands for itself can be written between `\\Q` and `\\E`",
    )


def inside_literal(span: Span, position: int) -> Span:
    """The place of a character of a string in its literal, where an escape stands for one character."""
    text = span.text
    place = 1
    for _ in range(position):
        place += 2 if text[place : place + 2] in ESCAPES else 1
    place = min(place, len(text) - 1)
    return Span(span.source, span.left + place, span.left + place + 1)


ESCAPES = ("\\n", "\\t", "\\\\", '\\"')


def faulty_open(problem: OpenShadows | NotAModule) -> Diagnostic:
    if isinstance(problem, OpenShadows):
        names = ", ".join([f"`{name}`" for name in problem.names])
        return Diagnostic(
            "type.open_shadows",
            f"opening `{problem.module}` would hide what is in scope as {names}",
            problem.span,
            help=f"write `{problem.module}.{problem.names[0]}` where it is needed, without `open`",
        )
    reason = "it is not finished inside its own body" if problem.unfinished else "it is not a module"
    return Diagnostic("type.not_a_module", f"`{problem.name}` cannot be opened: {reason}", problem.span)


def unknown_type(problem: UnknownType | UnknownConstructor) -> Diagnostic:
    labels = () if problem.place == problem.span else (Label(problem.place, "not known"),)
    if isinstance(problem, UnknownType):
        message = f"unknown type `{problem.name}`"
        return Diagnostic("type.unknown_type", message, problem.span, labels=labels, help=type_help(problem))
    return Diagnostic(
        "type.unknown_constructor",
        f"unknown type constructor `{problem.name}`",
        problem.span,
        labels=labels,
        help=constructor_help(problem),
    )


def faulty_declaration(
    problem: PrimitiveRedefined | DuplicateType | UnguardedType | UnboundBinder | LooseAlias,
) -> Diagnostic:
    name, span = problem.name, problem.span
    match problem:
        case PrimitiveRedefined():
            message = f"`{name}` is a primitive type and cannot be redefined"
            return Diagnostic("type.primitive_redefined", message, span, help="choose another name")
        case DuplicateType(first=first):
            labels = () if first is None else (Label(first, "the first declaration"),)
            notes = ("the surface declares it",) if first is None else ()
            message = f"Duplicate type declaration: `{name}` is declared already"
            return Diagnostic("type.duplicate_type", message, span, "error", labels, notes, "choose another name")
        case UnguardedType():
            message = f"the recursive type `{name}` leads to nothing but itself"
            help = "put the recursive use inside a record, a variant, an array or a function"
            return Diagnostic("type.ill_formed", message, span, help=help)
        case UnboundBinder(binder=binder):
            message = f"the host's type `{name}` uses the recursion variable `{binder}` outside of its `Mu`"
        case LooseAlias(variable=variable):
            message = f"the host's type `{name}` has the variable `{variable}`, but a named type has none"
    return Diagnostic("type.ill_formed", message, span)


def repetition(problem: DuplicateLabel | DuplicateBinder) -> Diagnostic:
    labels = (Label(problem.first, "the first one"), Label(problem.second, "the second one"))
    if isinstance(problem, DuplicateBinder):
        message = f"this pattern binds `{problem.name}` twice"
        help = "use two names and compare them in the arm"
        return Diagnostic("type.duplicate_binder", message, problem.span, labels=labels, help=help)
    if problem.owner == "variant type":
        message = f"this variant type has the tag `{problem.label} twice"
        return Diagnostic("type.duplicate_label", message, problem.span, labels=labels)
    message = f"this {problem.owner} has the field `{problem.label}` twice"
    return Diagnostic("type.duplicate_label", message, problem.span, labels=labels)


def no_equality(problem: NoEquality, words: Words) -> Diagnostic:
    part = resolved(problem.part)
    kind = next(name for kind, name in WITHOUT_EQUALITY.items() if isinstance(part, kind))
    whole = part is resolved(problem.type)
    notes = () if whole else (f"these are {words.a(problem.type)}, in which there is {words.a(part)}",)
    return Diagnostic(
        "type.no_equality",
        f"`{problem.node.op}` does not compare {kind}",
        problem.span,
        labels=(Label(problem.node.op_span, f"this compares values of type {words.show(problem.type)}"),),
        notes=notes,
        help=EQUALITY_HELP.get(kind),
    )


WITHOUT_EQUALITY: dict[type, str] = {Array: "arrays", Ref: "refs", Fun: "functions", Con: "Task values"}
EQUALITY_HELP = {
    "arrays": "compare the elements one by one",
    "refs": "compare what they hold: `!a == !b`",
}


def faulty_function(problem: LambdaArity | NotRecursive, words: Words) -> Diagnostic:
    if isinstance(problem, NotRecursive):
        return Diagnostic(
            "type.not_recursive",
            f"`{problem.name}` is defined with `let rec`, so it must be a function",
            problem.span,
            help="define values with plain `let`; `let rec` takes `fun` or parameters",
        )
    wanted, given = plural(problem.wanted, "parameter"), plural(problem.given, "parameter")
    return Diagnostic(
        "type.lambda_arity",
        f"the annotation says {wanted}, and this function has {given} ({problem.wanted} against {problem.given})",
        problem.span,
        labels=(Label(problem.annotation, f"this is {words.show(problem.type)}"),),
        help="`a -> b -> c` is one function of two parameters, and `unit ->` adds none",
    )


def needless_arm(problem: DuplicateArm | RedundantArm, around: Around) -> Diagnostic:
    swallowed = swallowed_help(problem.span, around)
    if isinstance(problem, DuplicateArm):
        message = f"this arm repeats the pattern {quoted(problem.pattern)}"
        labels = (Label(problem.first, "the first one"),)
        return Diagnostic(
            "type.duplicate_arm", message, problem.span, labels=labels, help=swallowed or "remove one of the two"
        )
    return Diagnostic(
        "type.redundant_arm",
        f"this arm {quoted(problem.pattern)} is never reached: earlier arms cover {problem.covered}",
        problem.span,
        labels=tuple([Label(span, "covered here") for span in problem.earlier[:MOST_LABELS]]),
        help=swallowed or "remove it, or move it up",
    )


def swallowed_help(arm: Span, around: Around) -> str | None:
    """What to do about an arm that stands where those of an outer match do, and fell into an inner one."""
    matches = [node for node in around if isinstance(node, ast.Match)]
    column = column_of_bar(arm)
    if len(matches) < 2 or column is None or column_of_bar(matches[-1].arms[0].pattern.span) == column:
        return None
    for outer in matches[:-1]:
        if column_of_bar(outer.arms[0].pattern.span) == column:
            inner = matches[-1].span.start.line
            wanted = outer.span.start.line
            return (
                f"put the match of line {inner} in parentheses: this arm fell into it from the match of line {wanted}"
            )
    return None


MOST_LABELS = 4


def missing_cases(problem: MissingCases, words: Words) -> Diagnostic:
    labels = [Label(span, "this covers its tag only in part") for span in problem.partial[:MOST_LABELS]]
    if not problem.cases:
        message = f"this match on {words.a(problem.type)} does not cover every value"
        help = "add a last arm `| _ -> ...`"
    else:
        shown = ", ".join(problem.cases)
        message = f"this match misses {'a case' if len(problem.cases) == 1 else 'cases'}: {shown}"
        arms = "".join([f"\n| {case} -> ..." for case in problem.cases])
        help = f"add {'the arm' if len(problem.cases) == 1 else 'the arms'}, or a catch-all `| _ -> ...`{arms}"
    labels.append(Label(problem.scrutinee, f"this is {words.a(problem.type)}"))
    return Diagnostic("type.missing_cases", message, problem.span, labels=tuple(labels), help=help)


def describe_all(
    problems: Sequence[Problem],
    script: ast.Script,
    types: Mapping[ast.Expr, Type],
    names: TypeNames = NO_NAMES,
) -> tuple[Diagnostic, ...]:
    """The diagnostics of a script's problems, in the same order.

    When the script has a call without parentheses, which is two statements, the first problem after it says so.
    """

    def is_function(expr: ast.Expr) -> bool:
        return expr in types and isinstance(resolved(types[expr]), Fun)

    diagnostics = [describe(problem, script, names) for problem in problems]
    call = find_juxtaposed(script, is_function) if diagnostics else None
    for index, diagnostic in enumerate(diagnostics):
        if call is not None and diagnostic.span is not None and diagnostic.span.left >= call.left:
            note = f"`{call.text}` on line {call.start.line} is not a call: a call needs parentheses, `f(x)`"
            diagnostics[index] = evolve(diagnostic, notes=(*diagnostic.notes, note))
            break
    return tuple(diagnostics)
