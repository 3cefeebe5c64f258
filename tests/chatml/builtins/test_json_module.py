"""`Json` (builtins.md section 3.8): taking values apart and changing them."""

from __future__ import annotations

import pytest
from hypothesis import given

from chatml.builtins.json_reader import read
from chatml.builtins.json_writer import write
from chatml.values.model import BuiltinFailure, Value
from tests.chatml.builtins.machines import caller
from tests.chatml.builtins.values_strategy import JSON, TEXTS

CALL = caller("Json")


@given(TEXTS)
def test_parse_opt_and_validate_agree_with_parse(text: str) -> None:
    """`validate` is true, and `parse_opt` a `Some`, exactly when `parse` succeeds."""
    if CALL("validate", text):
        assert CALL("parse_opt", text) == ("Some", CALL("parse", text))
        return
    assert CALL("parse_opt", text) == ("None",)
    with pytest.raises(BuiltinFailure) as caught:
        CALL("parse", text)
    assert text in caught.value.message


def test_parse_shows_the_reason_and_the_text() -> None:
    with pytest.raises(BuiltinFailure, match=r"line 1, column 4: .* in the array .*; the text is `\[1 2\]`"):
        CALL("parse", "[1 2]")
    with pytest.raises(BuiltinFailure) as caught:
        CALL("parse", "[" + "1," * 100_000)
    assert len(caught.value.message) < 1000


@given(JSON, TEXTS, JSON)
def test_set_and_remove_field(value: Value, key: str, field: Value) -> None:
    """A field that was set is found once, one that was removed is not; the object that was given stays as it was."""
    if value[0] != "Object":
        for name, args in (("set_field", (key, field)), ("remove_field", (key,))):
            with pytest.raises(BuiltinFailure, match=f"`Object, not a `{value[0]}"):
                CALL(name, value, *args)
        return
    before = write(value)
    changed = CALL("set_field", value, key, field)
    assert CALL("get_field", changed, key) == ("Some", field)
    assert CALL("object_keys", changed).count(key) == 1
    removed = CALL("remove_field", changed, key)
    assert CALL("get_field", removed, key) == ("None",)
    assert write(removed) == write(CALL("remove_field", value, key))
    assert write(value) == before


@given(JSON)
def test_accessors_follow_the_tag(value: Value) -> None:
    """Exactly the accessor of a value's tag gives its payload, and gives the payload itself."""
    for tag in ("Bool", "Number", "String", "Array", "Object"):
        result = CALL(f"as_{tag.lower()}", value)
        if tag == CALL("tag", value):
            assert result[1] is value[1]
        else:
            assert result == ("None",)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ([], '{"x":[10,{"y":"z"}],"0":true}'),
        (["x", "1", "y"], '"z"'),
        (["x", "+1", "y"], '"z"'),
        (["x", "0001", "y"], '"z"'),
        (["x", "0" * 5000 + "1", "y"], '"z"'),
        (["x", "-0"], "10"),
        (["0"], "true"),
        (["x", "2"], None),
        (["x", "-1"], None),
        (["x", "9" * 5000], None),
        (["x", "1.0"], None),
        (["x", " 1"], None),
        (["x", "١"], None),
        (["x", ""], None),
        (["x", "0", "q"], None),
        (["y"], None),
    ],
)
def test_get_path(path: list[Value], found: str | None) -> None:
    value = read('{"x":[10,{"y":"z"}],"0":true}')
    result = CALL("get_path", value, path)
    assert result == (("None",) if found is None else ("Some", read(found)))


def test_null_with_a_unit_payload() -> None:
    assert CALL("tag", ("Null", None)) == "Null"
    with pytest.raises(BuiltinFailure, match=r"expected Json\.t"):
        CALL("stringify", ("Null", None))


@pytest.mark.parametrize("value", [None, ("Other",), ("Array",), ("Object", 1), ("Object", [None]), ["Null"]])
def test_ill_formed_values(value: Value) -> None:
    with pytest.raises(BuiltinFailure, match="expected"):
        CALL("as_array" if value == ("Array",) else "object_keys", value)
