"""What is known of a script before code is generated for it: what `analyse` finds and `body` uses."""

from __future__ import annotations

from chatml.core import nodes
from chatml.records import frozen


@frozen(eq=False)
class Facts:
    """What is known of the functions, the calls and the refs of a script."""

    cells: dict[int, nodes.Lambda]
    """The functions that cells hold for certain."""
    looping: set[nodes.Lambda]
    """The functions that end in a call of themselves."""
    bouncing: set[nodes.Lambda]
    """Those that end in a call which must not grow the stack although it is not a loop: of an unknown function, or of
    one that may come back."""
    variables: set[nodes.Let]
    """The `let`s whose ref never leaves its function."""
    in_place: dict[nodes.Call, tuple[nodes.Lambda, tuple[str, ...]]]
    """Calls of builtins that go through an array, with the function that is written out as their argument: its body
    becomes the body of a loop, and what it captures does not leave the function around it."""
    shallow: set[nodes.Lambda]
    """The functions from which calls go down a few levels at most, and none comes back to a running function."""
    recursive: bool
    """Whether there are other functions."""
    frames_per_call: int
    """The most frames of Python that a call of those takes, last calls and calls by builtins included."""
