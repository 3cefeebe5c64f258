"""`Hashtbl` (builtins.md section 3.7)."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.diagnostics.errors import RuntimeFailure
from chatml.values.model import BuiltinFailure, Ref, Value
from chatml.values.text import show
from tests.chatml.builtins.machines import FakeMachine, caller

KEYS = st.sampled_from(["a", "b", "c"])
STEPS = st.lists(
    st.tuples(st.just("set"), KEYS, st.integers(0, 9))
    | st.tuples(st.sampled_from(["get", "mem", "remove"]), KEYS)
    | st.tuples(st.sampled_from(["read", "overwrite", "keep", "roll_back"])),
    max_size=30,
)


def entry(key: str, value: Value) -> Value:
    return {"key": key, "value": value}


def model_set(entries: list[Value], key: str, value: Value) -> list[Value]:
    keys = [found["key"] for found in entries]
    if key not in keys:
        return [*entries, entry(key, value)]
    first = keys.index(key)
    return [entry(key, value) if index == first else old for index, old in enumerate(entries)]


def model_get(entries: list[Value], key: str) -> Value:
    return next((("Some", found["value"]) for found in entries if found["key"] == key), ("None",))


@given(STEPS, st.booleans())
def test_table_is_a_ref_to_an_array(steps: list[tuple[Any, ...]], of_a_script: bool) -> None:
    """Whatever is done to a table, it is a ref to an array that each change replaces: `create`d or a script's own."""
    machine = FakeMachine()
    hashtbl = caller("Hashtbl", machine)
    table = Ref([]) if of_a_script else hashtbl("create")
    entries: list[Value] = []
    saved = entries
    read: list[tuple[Value, str]] = []
    for name, *args in steps:
        if name == "set":
            assert hashtbl("set", table, *args) is None
            entries = model_set(entries, *args)
        elif name == "remove":
            assert hashtbl("remove", table, *args) is None
            entries = [found for found in entries if found["key"] != args[0]]
        elif name == "get":
            assert hashtbl("get", table, *args) == model_get(entries, *args)
        elif name == "mem":
            assert hashtbl("mem", table, *args) is (model_get(entries, *args) != ("None",))
        elif name == "read":
            content = table.content
            assert content is table.content
            read.append((content, show(content)))
        elif name == "overwrite":
            table.content = [*entries, entry("b", 7), entry("b", 8)]
            entries = [*entries, entry("b", 7), entry("b", 8)]
            machine.saved.clear()
            saved = entries
        elif name == "keep":
            machine.saved.clear()
            saved = entries
        else:
            machine.roll_back()
            entries = saved
    assert show(table) == show(Ref(entries))
    for content, text in read:
        assert show(content) == text


def test_writes_through_the_array_count() -> None:
    hashtbl = caller("Hashtbl")
    table = hashtbl("create")
    hashtbl("set", table, "a", 1)
    table.content[0] = entry("z", 9)
    assert hashtbl("get", table, "a") == ("None",)
    assert hashtbl("get", table, "z") == ("Some", 9)
    hashtbl("set", table, "b", 2)
    assert show(table) == "ref([|{ key = z; value = 9 }, { key = b; value = 2 }|])"


def test_repeated_keys() -> None:
    hashtbl = caller("Hashtbl")
    for table in (Ref(None), hashtbl("create")):
        table.content = [entry("a", 1), entry("b", 2), entry("a", 3)]
        hashtbl("set", table, "a", 4)
        assert [found["value"] for found in table.content] == [4, 2, 3]
        hashtbl("remove", table, "a")
        assert table.content == [entry("b", 2)]


def test_absent_key_changes_nothing() -> None:
    hashtbl = caller("Hashtbl")
    table = hashtbl("create")
    content = table.content
    hashtbl("remove", table, "a")
    assert table.content is content


def test_limit_of_text() -> None:
    for table in (Ref([]), caller("Hashtbl")("create")):
        hashtbl = caller("Hashtbl", FakeMachine(text=2))
        hashtbl("set", table, "a", 1)
        hashtbl("set", table, "b", 1)
        hashtbl("set", table, "b", 2)
        with pytest.raises(RuntimeFailure, match="limit `text`"):
            hashtbl("set", table, "c", 1)


def test_many_entries_take_little_time() -> None:
    hashtbl = caller("Hashtbl")
    table = hashtbl("create")
    start = time.process_time()
    for number in range(50_000):
        hashtbl("set", table, str(number), number)
    assert hashtbl("get", table, "49999") == ("Some", 49_999)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("content", [[1], [{"key": 1, "value": 1}], [{"key": "a"}], None, "a"])
def test_what_is_no_table(content: Value) -> None:
    hashtbl = caller("Hashtbl")
    for args in (("get", "a"), ("mem", "a"), ("set", "a", 1), ("remove", "a")):
        with pytest.raises(BuiltinFailure, match="expected"):
            hashtbl(args[0], Ref(content), *args[1:])
        with pytest.raises(BuiltinFailure, match="expected"):
            hashtbl(args[0], content, *args[1:])
