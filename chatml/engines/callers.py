"""Calls with a list of arguments that stay calls from Python to Python, and the other way round.

`function(*args)` goes through C and takes room on the C stack each time, which deep recursion cannot afford. A caller
is a Python function, made once for a number of arguments, that spells the call out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

Caller = Callable[[Callable[..., Any], Sequence[Any]], Any]


@cache
def caller(count: int) -> Caller:
    """A function that applies its first argument to the elements of its second, which has so many.

    >>> caller(2)(pow, [2, 5])
    32
    """
    spelled = ", ".join(f"args[{position}]" for position in range(count))
    made: Caller = eval(f"lambda function, args: function({spelled})")
    return made


@cache
def gatherer(count: int, file: str = "<gatherer>") -> Callable[[Callable[[tuple[Any, ...]], Any]], Callable[..., Any]]:
    """Makes, of a function that takes a tuple, one that takes so many arguments. `file` is the file name of its code.

    >>> gatherer(2)(max)(2, 5)
    5
    """
    params = "".join(f"a{position}, " for position in range(count))
    made: Callable[..., Any] = eval(compile(f"lambda take: lambda {params}: take(({params}))", file, "eval"))
    return made
