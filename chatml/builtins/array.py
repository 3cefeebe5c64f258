"""`Array`: mutable, of fixed length, indexed from zero (builtins.md sections 3.5 and 10).

A callback may write to the array that is being traversed: later elements are read as they are when their turn comes,
except by `filter` and `sort_by`, which look at the elements that the array had at first.
"""

from __future__ import annotations

from collections.abc import Callable

from chatml.builtins.checks import check_index, check_range, expected, is_some
from chatml.builtins.expressions import expression
from chatml.builtins.globals import array_copy
from chatml.builtins.schemes import A, B, option
from chatml.surfaces.model import Builtin, Module
from chatml.types.model import Array, Bool, Fun, Int, Unit
from chatml.values.model import BuiltinFailure, Machine, Value


def get(array: Value, index: Value) -> Value:
    if not (type(array) is list and type(index) is int):
        raise expected("array", "int")
    check_index(index, array)
    return array[index]


def set_element(machine: Machine, array: Value, index: Value, value: Value) -> None:
    if not (type(array) is list and type(index) is int):
        raise expected("array", "int", "'a")
    check_index(index, array)
    machine.touch(array)
    array[index] = value


def make(machine: Machine, count: Value, value: Value) -> list[Value]:
    if type(count) is not int:
        raise expected("int", "'a")
    check_count(machine, count)
    return [value] * count


def check_count(machine: Machine, count: int) -> None:
    if count < 0:
        raise BuiltinFailure(f"the length must be non-negative, not {count}")
    machine.check_size(count)


def append(machine: Machine, left: Value, right: Value) -> list[Value]:
    if not (type(left) is list and type(right) is list):
        raise expected("array", "array")
    machine.check_size(len(left) + len(right))
    return left + right


def sub(machine: Machine, array: Value, start: Value, length: Value) -> list[Value]:
    if not (type(array) is list and type(start) is int and type(length) is int):
        raise expected("array", "int", "int")
    check_range(start, length, len(array))
    machine.check_size(length)
    return array[start : start + length]


def reverse(machine: Machine, array: Value) -> list[Value]:
    if type(array) is not list:
        raise expected("array")
    machine.check_size(len(array))
    return array[::-1]


def reverse_in_place(machine: Machine, array: Value) -> None:
    if type(array) is not list:
        raise expected("array")
    machine.charge(len(array))
    machine.touch(array)
    array.reverse()


def swap(machine: Machine, array: Value, first: Value, second: Value) -> None:
    if not (type(array) is list and type(first) is int and type(second) is int):
        raise expected("array", "int", "int")
    check_index(first, array)
    check_index(second, array)
    machine.touch(array)
    array[first], array[second] = array[second], array[first]


def fill(machine: Machine, array: Value, value: Value) -> None:
    if type(array) is not list:
        raise expected("array", "'a")
    machine.charge(len(array))
    machine.touch(array)
    array[:] = [value] * len(array)


# Callbacks. All are plain loops that stay off the C stack: a script may recurse through them.


def init(machine: Machine, count: Value, function: Value) -> list[Value]:
    if type(count) is not int:
        raise expected("int", "function")
    check_count(machine, count)
    apply = machine.function(function, 1)
    return [apply(index) for index in range(count)]


def map_elements(machine: Machine, array: Value, function: Value) -> list[Value]:
    apply = callback(machine, array, function, 1)
    machine.check_size(len(array))
    return [apply(element) for element in array]


def mapi(machine: Machine, array: Value, function: Value) -> list[Value]:
    apply = callback(machine, array, function, 2)
    machine.check_size(len(array))
    return [apply(index, element) for index, element in enumerate(array)]


def iterate(machine: Machine, array: Value, function: Value) -> None:
    apply = callback(machine, array, function, 1)
    machine.charge(len(array))
    for element in array:
        check_unit(apply(element))


def iteri(machine: Machine, array: Value, function: Value) -> None:
    apply = callback(machine, array, function, 2)
    machine.charge(len(array))
    for index, element in enumerate(array):
        check_unit(apply(index, element))


def callback(machine: Machine, array: Value, function: Value, arity: int) -> Callable[..., Value]:
    """The function that is called for the elements of an array, as one of Python."""
    if type(array) is not list:
        raise expected("array", "function")
    return machine.function(function, arity)


def check_unit(result: Value) -> None:
    if result is not None:
        raise BuiltinFailure("the function must return unit")


def fold(machine: Machine, array: Value, start: Value, function: Value) -> Value:
    if type(array) is not list:
        raise expected("array", "'b", "function")
    apply = machine.function(function, 2)
    machine.charge(len(array))
    result = start
    for element in array:
        result = apply(result, element)
    return result


def is_true(result: Value) -> bool:
    if type(result) is not bool:
        raise BuiltinFailure("the function must return a bool")
    return result


def keep(machine: Machine, array: Value, function: Value) -> list[Value]:
    apply = callback(machine, array, function, 1)
    machine.charge(len(array))
    result = [element for element in array[:] if is_true(apply(element))]
    machine.check_size(len(result))
    return result


def first_index(machine: Machine, array: Value, function: Value, wanted: bool) -> int:
    """The index of the first element for which the function returns what is wanted, or -1."""
    apply = callback(machine, array, function, 1)
    machine.charge(len(array))
    for index, element in enumerate(array):
        if is_true(apply(element)) is wanted:
            return index
    return -1


def exists(machine: Machine, array: Value, function: Value) -> bool:
    return first_index(machine, array, function, True) >= 0


def for_all(machine: Machine, array: Value, function: Value) -> bool:
    return first_index(machine, array, function, False) < 0


def find(machine: Machine, array: Value, function: Value) -> Value:
    index = first_index(machine, array, function, True)
    return ("None",) if index < 0 else ("Some", array[index])


def find_map(machine: Machine, array: Value, function: Value) -> Value:
    apply = callback(machine, array, function, 1)
    machine.charge(len(array))
    for element in array:
        result = apply(element)
        if is_some(result):
            return result
    return ("None",)


def sort_by(machine: Machine, array: Value, function: Value) -> list[Value]:
    """Merge runs of twice the length until one is left: a plain loop, as a script may recurse through the function."""
    compare = callback(machine, array, function, 2)
    machine.check_size(len(array))
    result: list[Value] = array[:]
    width = 1
    while width < len(result):
        machine.charge(len(result))
        runs = [result[start : start + width] for start in range(0, len(result), width)]
        result = []
        if len(runs) % 2:
            runs.append([])
        for left, right in zip(runs[::2], runs[1::2], strict=True):
            taken = 0
            for element in left:
                while taken < len(right) and is_positive(compare(element, right[taken])):
                    result.append(right[taken])
                    taken += 1
                result.append(element)
            result += right[taken:]
        width *= 2
    return result


def is_positive(result: Value) -> bool:
    if type(result) is not int:
        raise BuiltinFailure("the function must return an int")
    return result > 0


EACH = Fun([A], Unit)
TEST = Fun([A], Bool)

ARRAY = Module(
    "Array",
    (
        expression("length", Fun([Array(A)], Int), "len(a)"),
        Builtin("copy", Fun([Array(A)], Array(A)), array_copy, machine=True),
        Builtin("get", Fun([Array(A), Int], A), get),
        Builtin("set", Fun([Array(A), Int, A], Unit), set_element, machine=True),
        Builtin("make", Fun([Int, A], Array(A)), make, machine=True),
        Builtin("append", Fun([Array(A), Array(A)], Array(A)), append, machine=True),
        Builtin("sub", Fun([Array(A), Int, Int], Array(A)), sub, machine=True),
        Builtin("reverse", Fun([Array(A)], Array(A)), reverse, machine=True),
        Builtin("reverse_in_place", Fun([Array(A)], Unit), reverse_in_place, machine=True),
        Builtin("swap", Fun([Array(A), Int, Int], Unit), swap, machine=True),
        Builtin("fill", Fun([Array(A), A], Unit), fill, machine=True),
        Builtin("init", Fun([Int, Fun([Int], A)], Array(A)), init, machine=True, loop="init"),
        Builtin("map", Fun([Array(A), Fun([A], B)], Array(B)), map_elements, machine=True, loop="map"),
        Builtin("mapi", Fun([Array(A), Fun([Int, A], B)], Array(B)), mapi, machine=True, loop="mapi"),
        Builtin("iter", Fun([Array(A), EACH], Unit), iterate, machine=True, loop="iter"),
        Builtin("iteri", Fun([Array(A), Fun([Int, A], Unit)], Unit), iteri, machine=True, loop="iteri"),
        Builtin("fold", Fun([Array(A), B, Fun([B, A], B)], B), fold, machine=True, loop="fold"),
        Builtin("filter", Fun([Array(A), TEST], Array(A)), keep, machine=True, loop="filter"),
        Builtin("exists", Fun([Array(A), TEST], Bool), exists, machine=True, loop="exists"),
        Builtin("for_all", Fun([Array(A), TEST], Bool), for_all, machine=True, loop="for_all"),
        Builtin("find", Fun([Array(A), TEST], option(A)), find, machine=True),
        Builtin("find_map", Fun([Array(A), Fun([A], option(B))], option(B)), find_map, machine=True, loop="find_map"),
        Builtin("sort_by", Fun([Array(A), Fun([A, A], Int)], Array(A)), sort_by, machine=True),
    ),
)
