"""The type system: inference, match checks, and how types are shown (language.md section 3).

`check` infers the types of a script against an `Environment` and returns them as `Checked`.
"""

from __future__ import annotations

from chatml import ast
from chatml.stack import deep
from chatml.types.checked import Checked, Contract
from chatml.types.environment import Environment
from chatml.types.statements import Statements

__all__ = ["Checked", "Contract", "Environment", "check"]

WORK, WORK_PER_CHARACTER = 500_000, 50
"""How many parts of types a check may copy and search: hardly one for each character in a usual script."""


def check(script: ast.Script, environment: Environment) -> Checked:
    """Check a script. Never raises for a fault of the script: `Checked.problems` says what is wrong with it.

    >>> from chatml.parse import parse
    >>> from chatml.source import Source
    >>> checked = check(parse(Source("s", "let double n = n * 2")), Environment({}))
    >>> checked.show("double")
    '(int -> int)'
    """
    statements = Statements(environment)
    inference = statements.inference
    inference.unifier.work = WORK + WORK_PER_CHARACTER * (script.span.right - script.span.left)
    with deep():
        if not environment.problems:
            statements.check(script.statements)
    return Checked(
        script=script,
        problems=environment.problems + tuple(inference.problems),
        entries=statements.definitions,
        types=inference.types,
        operands=inference.operands,
        projections=frozenset(inference.projections),
    )
