"""From core to a Python syntax tree: `match`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from chatml.core import nodes
from chatml.engines.compile.body import RETURN, Body, Place, Target
from chatml.engines.compile.code import Kind, Spot
from chatml.engines.compile.python import Block, assign, both, call, compare, const, is_a, item, keep, name
from chatml.records import frozen


@frozen
class Test:
    """A pattern as Python: conditions to try in order, and then the values of its variables."""

    conditions: list[ast.expr]
    bindings: list[tuple[str, ast.expr]]


def lower_match(body: Body, node: nodes.Match, target: Target) -> None:
    subject = body.value(node.scrutinee)
    if isinstance(subject, ast.IfExp) and chosen(body, node, subject, target):
        return
    if not body.stable(subject):
        subject = body.temporary(subject)
    arms: list[tuple[ast.expr | None, Block]] = []
    for arm in node.arms:
        test = Test([], [])
        place_pattern(body, test, arm.pattern, subject)
        block: Block = [assign(variable, value) for variable, value in test.bindings]
        block += body.apart(partial(body.into, arm.body, target))
        condition = body.at(both(test.conditions), Spot(Kind.MATCH, node.span)) if test.conditions else None
        arms.append((condition, block))
        if not test.conditions:
            break
    missing: Block = []
    if arms[-1][0] is not None:
        missing = [ast.Expr(body.at(call("no_match"), Spot(Kind.MATCH, node.span)))]
    if target is RETURN:
        for condition, block in arms:
            if condition is None:
                body.block += block
            else:
                body.emit(ast.If(condition, block, []))
        body.block += missing
        return
    rest = missing
    for condition, block in reversed(arms):
        rest = block if condition is None else [ast.If(condition, block or [ast.Pass()], rest)]
    body.block += rest


def chosen(body: Body, node: nodes.Match, subject: ast.IfExp, target: Target) -> bool:
    """A match of one of two variants that are made right there: what chooses between them chooses between the arms.

    Whether that is so: each of the two must go to an arm of its own that takes it apart no further.
    """
    ways = [taken(node.arms, made) for made in (subject.body, subject.orelse)]
    if ways[0] is None or ways[1] is None or ways[0].arm is ways[1].arm:
        return False
    blocks: list[Block] = []
    for way in (ways[0], ways[1]):
        block: Block = []
        for pattern, part in way.bindings:
            variable = body.variable(pattern.slot) if isinstance(pattern, nodes.Bind) else body.unit.fresh()
            block.append(assign(variable, part))
        blocks.append(block + body.apart(partial(body.into, way.arm.body, target)))
    body.emit(ast.If(subject.test, blocks[0] or [ast.Pass()], blocks[1]))
    return True


@frozen(eq=False)
class Taken:
    """The arm that takes a variant, and the patterns of its arguments, each with the argument."""

    arm: nodes.Arm
    bindings: list[tuple[nodes.Pattern, ast.expr]]


def taken(arms: Sequence[nodes.Arm], made: ast.expr) -> Taken | None:
    """Which arm takes a variant, if the expression that makes it tells."""
    match made:
        case ast.Tuple([ast.Constant(tag), *args]):
            for arm in arms:
                if not isinstance(arm.pattern, nodes.Tagged):
                    return None
                patterns = arm.pattern.args
                if arm.pattern.tag == tag and len(patterns) == len(args):
                    plain = all(isinstance(pattern, nodes.Bind | nodes.Anything) for pattern in patterns)
                    return Taken(arm, list(zip(patterns, args, strict=True))) if plain else None
    return None


def place_pattern(body: Body, test: Test, pattern: nodes.Pattern, subject: ast.expr) -> None:
    """Add a pattern on a subject to a test. The subject may be of any kind: an event is whatever a host delivers."""
    match pattern:
        case nodes.Anything():
            return
        case nodes.Bind(slot=slot):
            if isinstance(subject, ast.Name) and body.stable(subject):
                body.places[slot] = Place(subject.id)
            else:
                test.bindings.append((body.variable(slot), subject))
        case nodes.Exactly(value=value):
            same = ast.Is() if value is None or isinstance(value, bool) else ast.Eq()
            test.conditions.append(compare(subject, same, const(value)))
            # In Python 1 == 1.0 == True. What is matched itself is what its type says; parts of an event may not be.
            if type(value) in (int, float) and isinstance(subject, ast.Subscript):
                test.conditions.append(is_a(subject, type(value).__name__))
        case nodes.Tagged(tag=label, args=()):
            test.conditions.append(compare(subject, ast.Eq(), const((label,))))
        case nodes.Tagged(tag=label, args=args):
            subject = held(body, test, subject)
            test.conditions.append(is_a(subject, "tuple"))
            test.conditions.append(compare(call("len", subject), ast.Eq(), const(len(args) + 1)))
            test.conditions.append(compare(item(subject, const(0)), ast.Eq(), const(label)))
            for position, arg in enumerate(args, 1):
                place_pattern(body, test, arg, item(subject, const(position)))
        case nodes.Fields(labels=labels, patterns=patterns, open=is_open):
            subject = held(body, test, subject)
            test.conditions.append(is_a(subject, "dict"))
            if not is_open:
                test.conditions.append(compare(call("len", subject), ast.Eq(), const(len(labels))))
            for label, field in zip(labels, patterns, strict=True):
                test.conditions.append(compare(const(label), ast.In(), subject))
                place_pattern(body, test, field, item(subject, const(label)))


def held(body: Body, test: Test, subject: ast.expr) -> ast.expr:
    """The subject as a name; a part of a value is kept in a variable by the first condition on it."""
    if isinstance(subject, ast.Name | ast.Constant):
        return subject
    variable = body.unit.fresh()
    test.conditions.append(compare(keep(variable, subject), ast.IsNot(), name("absent")))
    return name(variable)
