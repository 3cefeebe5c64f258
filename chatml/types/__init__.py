"""The type system: inference, match checks, and how types are shown (language.md section 3).

`check` infers the types of a script against an `Environment` and returns them as `Checked`; `Statements` does that for
some statements at a time.
"""

from __future__ import annotations

from chatml.syntax import ast
from chatml.types.checked import Checked, Contract
from chatml.types.environment import Environment
from chatml.types.statements import Statements

__all__ = ["Checked", "Contract", "Environment", "Statements", "check"]


def check(script: ast.Script, environment: Environment) -> Checked:
    """Check a script. Never raises for a fault of the script: `Checked.problems` says what is wrong with it.

    >>> from chatml.syntax.parse import parse
    >>> from chatml.source import Source
    >>> checked = check(parse(Source("s", "let double n = n * 2")), Environment({}))
    >>> checked.show("double")
    '(int -> int)'
    """
    return Statements(environment).extend(script)
