"""The globals, `String`, `Array`, `Option` and `Task` (builtins.md sections 3.1 to 3.6)."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.diagnostics.errors import RuntimeFailure
from chatml.values.model import BuiltinFailure, Ref, Value
from chatml.values.text import show
from tests.chatml.builtins.machines import FakeMachine, HostFunction, caller
from tests.chatml.builtins.values_strategy import TEXTS

SHORT = st.text("ab,", max_size=6)
PIECES = st.text("ab", max_size=2)


@given(SHORT, SHORT)
def test_find_contains_and_split_agree(text: str, needle: str) -> None:
    """`find` finds what `contains` knows, at the place where `slice` shows it, and `split` takes it out."""
    string = caller("String")
    found = string("find", text, needle)
    assert string("contains", text, needle) is (found != ("None",))
    if found != ("None",):
        assert string("slice", text, found[1], len(needle)) == needle
    if needle:
        pieces = string("split", text, needle)
        assert needle.join(pieces) == text
        assert not any(string("contains", piece, needle) for piece in pieces)
        assert (len(pieces) > 1) is (found != ("None",))


@given(SHORT, PIECES.filter(bool), PIECES)
def test_replace_all_is_split_and_join(text: str, pattern: str, replacement: str) -> None:
    """Replacing a pattern is splitting at it and joining with the replacement."""
    string = caller("String")
    assert string("replace_all", text, pattern, replacement) == replacement.join(string("split", text, pattern))


@given(TEXTS)
def test_case_and_trim_touch_ascii_only(text: str) -> None:
    """Case mapping and trimming leave every code point beyond ASCII alone, and the length of the text (X-01)."""
    string = caller("String")
    for name in ("to_upper", "to_lower"):
        mapped = string(name, text)
        assert len(mapped) == len(text)
        for old, new in zip(text, mapped, strict=True):
            assert new in (old, old.swapcase()) if old.isascii() else new == old
    assert string("trim", f" \t\r\n\v\f{text}") == string("trim", text)
    assert string("trim", f"\u00a0{text}\u2003") == f"\u00a0{text}\u2003"


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_case(text: str) -> None:
    """ASCII text is mapped as Python maps it."""
    string = caller("String")
    assert string("to_upper", text) == text.upper()
    assert string("to_lower", text + "É") == text.lower() + "É"


@pytest.mark.parametrize("name", ["slice", "sub"])
@pytest.mark.parametrize(
    ("start", "length", "message"),
    [
        (-1, 0, "non-negative"),
        (0, -1, "non-negative"),
        (4, 0, "out of bounds"),
        (3, 1, "out of bounds"),
        (2**62 - 1, 2**62 - 1, "out of bounds"),
        (0, 2**62 - 1, "out of bounds"),
        (-(2**62), 2**62 - 1, "non-negative"),
    ],
)
def test_ranges(name: str, start: int, length: int, message: str) -> None:
    whole: Value = "abc" if name == "slice" else ["a", "b", "c"]
    with pytest.raises(BuiltinFailure, match=message):
        caller("String" if name == "slice" else "Array")(name, whole, start, length)


def test_hash_md5_is_of_utf_8() -> None:
    assert caller("")("hash_md5", "é") == hashlib.md5("é".encode()).hexdigest()


def test_fail_has_exactly_its_text() -> None:
    with pytest.raises(RuntimeFailure) as caught:
        caller("")("fail", "boom: 42")
    assert caught.value.message == "boom: 42"


def test_print_goes_to_the_sink() -> None:
    machine = FakeMachine()
    assert caller("", machine)("print", [1, "a"]) is None
    assert machine.printed == ["[|1, a|]"]


BIG: list[tuple[str, str, tuple[Any, ...]]] = [
    ("", "to_string", ([1, 2, 3],)),
    ("", "print", ([1, 2, 3],)),
    ("", "array_copy", ([1] * 6,)),
    ("", "record_keys", (dict.fromkeys("abcdef", 1),)),
    ("String", "concat", ("abc", "def")),
    ("String", "slice", ("abcdefgh", 1, 6)),
    ("String", "trim", ("abcdef ",)),
    ("String", "split", ("a,b,c,d,e,f", ",")),
    ("String", "to_upper", ("abcdef",)),
    ("String", "to_lower", ("ABCDEF",)),
    ("String", "replace_all", ("aaa", "a", "bc")),
    ("Array", "copy", ([1] * 6,)),
    ("Array", "make", (6, 0)),
    ("Array", "init", (6, HostFunction(lambda index: index))),
    ("Array", "append", ([1] * 3, [1] * 3)),
    ("Array", "sub", ([1] * 7, 0, 6)),
    ("Array", "reverse", ([1] * 6,)),
    ("Array", "map", ([1] * 6, HostFunction(lambda element: element))),
    ("Array", "mapi", ([1] * 6, HostFunction(lambda index, element: element))),
    ("Array", "filter", ([1] * 6, HostFunction(lambda element: True))),
    ("Array", "sort_by", ([1] * 6, HostFunction(lambda left, right: 0, 2))),
    ("Path", "normalise", ("/abcde",)),
    ("Path", "join", ("abc", "de")),
    ("Path", "basename", ("abcdef",)),
    ("Path", "dirname", ("abcdef/g",)),
    ("Json", "canonical", (("String", "abcd"),)),
    ("Json", "parse", ("[1,2,3,4,5,6]",)),
    ("Json", "stringify", (("String", "abcd"),)),
    ("Json", "pretty", (("Array", [("Null",)]),)),
    ("Json", "object_keys", (("Object", [{"key": "a", "value": ("Null",)}] * 6),)),
    ("Json", "set_field", (("Object", [{"key": "a", "value": ("Null",)}] * 5), "b", ("Null",))),
    ("Json", "remove_field", (("Object", [{"key": "a", "value": ("Null",)}] * 6), "b")),
    ("Turn", "append_notice", ("",)),
]


@pytest.mark.parametrize(("module", "name", "args"), BIG, ids=[f"{module}.{name}" for module, name, _ in BIG])
def test_limit_of_text(module: str, name: str, args: tuple[Any, ...]) -> None:
    with pytest.raises(RuntimeFailure, match="limit `text`"):
        caller(module, FakeMachine(text=5))(name, *args)
    caller(module, FakeMachine(text=50))(name, *args)


def test_limit_stops_before_the_memory_is_full() -> None:
    array = caller("Array", FakeMachine(text=1000))
    string = caller("String", FakeMachine(text=1000))
    with pytest.raises(RuntimeFailure):
        array("make", 2**62 - 1, 0)
    with pytest.raises(RuntimeFailure):
        array("init", 2**62 - 1, HostFunction(lambda index: index))
    with pytest.raises(RuntimeFailure):
        string("replace_all", "a" * 1000, "a", "b" * 1_000_000_000)


WRITES: list[tuple[str, tuple[Any, ...]]] = [
    ("set", (0, 9)),
    ("reverse_in_place", ()),
    ("swap", (0, 2)),
    ("fill", (0,)),
]


@pytest.mark.parametrize(("name", "args"), WRITES, ids=[name for name, _ in WRITES])
def test_writes_are_announced_first(name: str, args: tuple[Any, ...]) -> None:
    machine = FakeMachine()
    array = [1, 2, 3]
    assert caller("Array", machine)(name, array, *args) is None
    assert array != [1, 2, 3]
    machine.roll_back()
    assert array == [1, 2, 3]


def test_swap_ref_is_announced_first() -> None:
    machine = FakeMachine()
    ref = Ref("old")
    assert caller("", machine)("swap_ref", ref, "new") == "old"
    assert ref.content == "new"
    machine.roll_back()
    assert ref.content == "old"


@pytest.mark.parametrize(("first", "second"), [(0, 3), (-1, 0), (3, 3)])
def test_swap_out_of_bounds_changes_nothing(first: int, second: int) -> None:
    array = [1, 2, 3]
    with pytest.raises(BuiltinFailure, match="out of bounds"):
        caller("Array")("swap", array, first, second)
    assert array == [1, 2, 3]


def test_visits_stop_early() -> None:
    array = caller("Array")
    seen: list[Value] = []

    def over_one(element: Value) -> bool:
        seen.append(element)
        return bool(element > 1)

    assert array("exists", [1, 2, 3], HostFunction(over_one)) is True
    assert array("for_all", [2, 1, 3], HostFunction(over_one)) is False
    assert array("find", [1, 2, 3], HostFunction(over_one)) == ("Some", 2)
    assert seen == [1, 2, 2, 1, 1, 2]


def test_find_reads_the_slot_again() -> None:
    elements = [1, 2]

    def overwrite(element: Value) -> bool:
        elements[0] = 9
        return True

    assert caller("Array")("find", elements, HostFunction(overwrite)) == ("Some", 9)


WRONG_RESULTS = [
    ("iter", "must return unit"),
    ("filter", "must return a bool"),
    ("exists", "must return a bool"),
    ("for_all", "must return a bool"),
    ("find", "must return a bool"),
    ("find_map", "expected an option"),
]


@pytest.mark.parametrize(("name", "message"), WRONG_RESULTS)
def test_wrong_results_of_callbacks(name: str, message: str) -> None:
    with pytest.raises(BuiltinFailure, match=message):
        caller("Array")(name, [1], HostFunction(lambda element: 1))


def test_failure_of_a_callback_passes_unchanged() -> None:
    failure = RuntimeFailure("division by zero")

    def fail(element: Value) -> Value:
        raise failure

    for name in ("map", "iter", "filter", "exists", "for_all", "find", "find_map"):
        with pytest.raises(RuntimeFailure) as caught:
            caller("Array")(name, [1], HostFunction(fail))
        assert caught.value is failure


def test_elements_are_shared() -> None:
    inner = [0]
    array = caller("Array")
    for copied in (array("copy", [inner]), array("reverse", [inner]), array("sub", [inner], 0, 1)):
        assert copied[0] is inner
    first, second = array("make", 2, inner)
    assert first is second is inner


@pytest.mark.parametrize("value", [("Some", 1, 2), ("Some",), ("None", None), ("Other", 1), None, [1]])
def test_what_is_no_option(value: Value) -> None:
    option = caller("Option")
    for name, args in (("is_none", ()), ("is_some", ()), ("get_or", (0,))):
        with pytest.raises(BuiltinFailure, match="expected an option"):
            option(name, value, *args)


def test_tasks_hold_their_parts() -> None:
    task = caller("Task")
    function = HostFunction(abs)
    first = task("pure", [1])
    assert first.value == [1]
    assert (task("bind", first, function).task, task("map", first, function).function) == (first, function)
    assert show(task("catch", task("fail", "no"), function)) == "catch(fail(no), <closure>)"
