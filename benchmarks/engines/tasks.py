"""The tasks: one piece of work, written in each language that can express it, in the files beside this one.

Each text defines `main`, which takes a number and returns one; the numbers must agree. The Python text is the limit,
and also what asteval and RestrictedPython run, and Starlark where it has no text of its own.
"""

from __future__ import annotations

from pathlib import Path

import attrs

FOLDER = Path(__file__).parent / "tasks"


@attrs.frozen
class Task:
    """A piece of work: the name of its files, what it is called, and the size that `main` is called with."""

    file: str
    name: str
    size: int

    def text(self, *suffixes: str) -> str | None:
        """The text in the first of these languages that has one."""
        paths = [FOLDER / f"{self.file}.{suffix}" for suffix in suffixes]
        return next((path.read_text(encoding="utf-8") for path in paths if path.exists()), None)


TASKS = [
    Task("fib", "recursive fib", 20),
    Task("tail_loop", "tail loop", 100_000),
    Task("while_loop", "while with a ref", 100_000),
    Task("float_loop", "float loop", 100_000),
    Task("arrays", "array map and fold", 50_000),
    Task("strings", "string building", 20_000),
    Task("records", "record update", 30_000),
    Task("variants", "variant interpreter", 11),
    Task("closures", "closures", 50_000),
    Task("deep_recursion", "deep recursion", 5_000),
    Task("json_text", "JSON parse and stringify", 200),
]
POLICY = Task("policy", "policy", 0)

CALL = {"id": "c1", "name": "read_file", "args": {"path": "docs/guide.md", "limit": 20}}
"""What a host hands to a policy: one tool call, as the provider gave it."""
