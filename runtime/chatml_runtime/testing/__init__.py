"""Trying policies out: a scripted model, and a host that plays a whole conversation with it.

A `ScriptedHost` is an interactive host without a network, a screen or a clock: the model says what it was told to say,
tools are functions, a person's answers come from a list, and time passes when `advance` says so. Everything between
is the machinery of a real host: controller, turn driver, jobs and timers.

>>> policy = '''
... let initial_state = 0
... let on_event ctx st ev =
...   match ev with
...   | `Pre_tool_call(call) ->
...     if call.name == "delete" then let* () = Tool.reject("Not here.") in Task.pure(st + 1) else Task.pure(st)
...   | _ -> Task.pure(st)
... '''
>>> with ScriptedHost(policy, model=[[call("delete", {"path": "a"})], [say("I may not.")]]) as host:
...     host.send("Delete a")
...     host.outputs, host.texts, host.state
(['Not here.'], ['I may not.'], 1)
"""

from chatml_runtime.testing.host import ScriptedHost
from chatml_runtime.testing.model import Request, ScriptedModel, call, custom_call, say, think, user
from chatml_runtime.testing.view import RecordingView

__all__ = [
    "RecordingView",
    "Request",
    "ScriptedHost",
    "ScriptedModel",
    "call",
    "custom_call",
    "say",
    "think",
    "user",
]
