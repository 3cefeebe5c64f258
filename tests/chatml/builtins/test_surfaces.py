"""The standard surfaces (builtins.md sections 1, 3, 5, 6 and 8)."""

from __future__ import annotations

import inspect
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatml.diagnostics.errors import RuntimeFailure
from chatml.surfaces.core import CORE
from chatml.surfaces.model import Alias, Builtin, Surface
from chatml.surfaces.moderator import MODERATOR
from chatml.surfaces.ui import UI_MODERATOR
from chatml.types.model import Fun, Int
from chatml.values.model import BuiltinFailure, ModuleValue, Ref, Value
from chatml.values.text import show
from tests.chatml.builtins.machines import FakeMachine, HostFunction
from tests.chatml.builtins.values_strategy import DATA, JSON, TEXTS

MEMBERS = {
    "Task": "bind catch fail map pure",
    "String": "concat contains ends_with equal find is_empty length replace_all slice split starts_with to_lower "
    "to_upper trim",
    "Array": "append copy exists fill filter find find_map fold for_all get init iter iteri length make map mapi "
    "reverse reverse_in_place set sort_by sub swap",
    "Option": "get_or is_none is_some none some",
    "Hashtbl": "create get mem remove set",
    "Json": "as_array as_bool as_number as_object as_string canonical get_field get_path object_keys parse "
    "parse_opt pretty remove_field set_field stringify tag validate",
    "Path": "basename dirname is_below join normalise",
    "Text": "find_all join lines matches parse_float parse_int replace replace_matches words",
    "Int": "abs max min to_float",
    "Float": "ceil floor max min round to_int",
    "Log": "debug error info warn",
    "Item": "assistant_text create id input_text_message is_assistant is_system is_tool_call is_tool_result "
    "is_user kind notice output_text_message role system_text text text_parts user_text value",
    "Tool_call": "arg arg_array arg_bool arg_int arg_string is_named is_one_of path",
    "Context": "find_item find_tool has_tool items_by_role items_since_last_assistant_turn "
    "items_since_last_user_turn last_assistant_item last_item last_system_item last_tool_call "
    "last_tool_result last_user_item",
    "Turn": "append_item append_message append_notice delete_item delete_message halt prepend_system replace_item "
    "replace_message replace_or_append",
    "Tool": "approve call redirect reject rewrite_args spawn",
    "Model": "call call_json call_text spawn spawn_text",
    "Schedule": "after_ms cancel",
    "Runtime": "emit end_session request_compaction request_turn",
    "Process": "run",
    "Ui": "notify",
    "Approval": "ask_about ask_choice ask_choice_within ask_text ask_text_within",
}
GLOBALS = (
    "array_copy fail hash_md5 length not print record_keys string_is_empty string_length swap_ref to_string variant_tag"
)
MODERATOR_MODULES = {
    *("Log", "Item", "Tool_call", "Context", "Turn", "Tool", "Model", "Schedule", "Runtime", "Process")
}


def module_names(surface: Surface) -> set[str]:
    return {module.name for module in surface.modules}


def test_members() -> None:
    assert " ".join(sorted(builtin.name for builtin in UI_MODERATOR.globals)) == GLOBALS
    members = {
        module.name: " ".join(sorted(export.name for export in module.exports)) for module in UI_MODERATOR.modules
    }
    assert members == MEMBERS


def test_surfaces_add_to_each_other() -> None:
    assert module_names(CORE) == {
        "Task",
        "String",
        "Array",
        "Option",
        "Hashtbl",
        "Json",
        "Path",
        "Text",
        "Int",
        "Float",
    }
    assert module_names(MODERATOR) - module_names(CORE) == MODERATOR_MODULES
    assert module_names(UI_MODERATOR) - module_names(MODERATOR) == {"Ui", "Approval"}
    assert CORE.globals == MODERATOR.globals == UI_MODERATOR.globals
    assert [alias.name for alias in CORE.aliases] == ["json"]
    assert [alias.name for alias in MODERATOR.aliases] == [
        *("json", "item", "tool_desc", "tool_call", "tool_result", "context", "event", "job_event")
    ]
    assert [*MODERATOR.aliases] == [*UI_MODERATOR.aliases][:-1]
    assert UI_MODERATOR.aliases[-1].name == "reply"


def all_builtins() -> list[tuple[str, Builtin]]:
    return [(builtin.name, builtin) for builtin in UI_MODERATOR.globals] + [
        (f"{module.name}.{export.name}", export) for module in UI_MODERATOR.modules for export in module.exports
    ]


@pytest.mark.parametrize(("name", "builtin"), all_builtins(), ids=[name for name, _ in all_builtins()])
def test_schemes_fit_their_functions(name: str, builtin: Builtin) -> None:
    assert re.fullmatch(r"([A-Z]\w*\.)?[a-z]\w*", name)
    assert isinstance(builtin.scheme, Fun)
    wanted = len(builtin.scheme.params) + builtin.machine
    inspect.signature(builtin.function).bind(*range(wanted))


ARGUMENTS = (
    DATA
    | JSON
    | TEXTS
    | st.integers(-3, 3)
    | st.lists(JSON, max_size=3)
    | st.builds(Ref, st.lists(st.fixed_dictionaries({"key": TEXTS, "value": DATA}), max_size=3))
    | st.builds(lambda identity, value: {"id": identity, "value": value}, TEXTS, JSON)
    | st.sampled_from(
        [ModuleValue("M", {"a": 1}), HostFunction(lambda value, *more: value), HostFunction(lambda *any: True)]
    )
)


@pytest.mark.parametrize(("name", "builtin"), all_builtins(), ids=[name for name, _ in all_builtins()])
@settings(max_examples=20)
@given(data=st.data())
def test_any_argument_gives_a_value_or_a_failure(name: str, builtin: Builtin, data: st.DataObject) -> None:
    """Whatever values a builtin is given, of its types or not, it returns a value or fails as a builtin fails."""
    assert isinstance(builtin.scheme, Fun)
    args: list[Value] = [data.draw(ARGUMENTS) for _ in builtin.scheme.params]
    if builtin.machine:
        args.insert(0, FakeMachine(text=100))
    try:
        result = builtin.function(*args)
    except (BuiltinFailure, RuntimeFailure):
        return
    assert isinstance(show(result), str)


def test_combine_keeps_the_left() -> None:
    mine = Builtin("print", Fun([], Int), lambda: 1)
    other = Surface(globals=(mine,), aliases=(Alias("json", Int), Alias("mine", Int)))
    left, right = other.combine(CORE), CORE.combine(other)
    assert {builtin.name: builtin for builtin in left.globals}["print"] is mine
    assert {builtin.name: builtin for builtin in right.globals}["print"] is not mine
    assert [alias.name for alias in left.aliases] == ["json", "mine"]
    assert {alias.name: alias.type for alias in right.aliases}["json"] is CORE.aliases[0].type
    assert module_names(left) == module_names(CORE)
