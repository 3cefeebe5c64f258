"""`Turn`: changes to the conversation, applied when the handler commits (builtins.md section 5.7)."""

from __future__ import annotations

from chatml.builtins.checks import expected, is_some
from chatml.builtins.effects import Effect, effect_module, perform
from chatml.builtins.item import ITEM_TYPE, instruction_text
from chatml.builtins.schemes import option, task
from chatml.surfaces.model import Builtin
from chatml.types.model import Fun, String, Unit
from chatml.values.model import Machine, Task, Value


def replace_or_append(target: Value, item: Value) -> Task:
    if is_some(target):
        return perform("Turn.replace_message", target[1], item)
    return perform("Turn.append_message", item)


def append_notice(machine: Machine, text: Value) -> Task:
    if type(text) is not str:
        raise expected("string")
    machine.check_size(len("system:") + len(text))
    return perform("Turn.append_message", instruction_text(f"system:{text}", text))


TURN = effect_module(
    "Turn",
    [
        Effect("prepend_system", [String]),
        Effect("append_item", [ITEM_TYPE], operation="append_message"),
        Effect("append_message", [ITEM_TYPE]),
        Effect("replace_item", [String, ITEM_TYPE], operation="replace_message"),
        Effect("replace_message", [String, ITEM_TYPE]),
        Effect("delete_item", [String], operation="delete_message"),
        Effect("delete_message", [String]),
        Effect("halt", [String]),
    ],
    [
        Builtin("replace_or_append", Fun([option(String), ITEM_TYPE], task(Unit)), replace_or_append),
        Builtin("append_notice", Fun([String], task(Unit)), append_notice, machine=True),
    ],
)
