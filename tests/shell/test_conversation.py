"""A policy above and a runtime below: conversations whose tools really run, each call judged twice."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import chatmd
from chatml.surfaces.ui import UI_MODERATOR
from chatml_runtime.host.background import BackgroundLoop
from chatml_runtime.moderation.documents import moderator_script
from chatml_runtime.moderation.vocabulary import ToolCall
from chatml_runtime.testing import ScriptedHost, call, say
from chatml_shell import Host, compile_manifest, host_paths, once, open_registry
from chatml_tools.shell.processes import entered
from tests.house import ROOT
from tests.shell.registries import Spawns

EXAMPLES = ROOT / "examples/shell"


@contextlib.contextmanager
def conversation(name: str, tool: str, *calls: dict[str, Any], answers: tuple[str, ...] = ()) -> Iterator[ScriptedHost]:
    """A conversation of an example in which the model makes some calls, one after another."""
    document = chatmd.load_file(EXAMPLES / f"{name}.chatmd")
    manifest = compile_manifest(document)
    artifact = moderator_script(document, surface=UI_MODERATOR)
    assert artifact is not None
    host = Host(paths=host_paths(manifest, workspace=str(ROOT)))
    with BackgroundLoop() as loop:
        registry, leave = loop.run(entered(open_registry(manifest, host=host, authoriser=once)))

        def run(arguments: Any) -> str:
            made = ToolCall(id="c", name=tool, args=arguments)
            return loop.run(registry.run_tool(made))

        model = [[call(tool, arguments)] for arguments in calls] + [[say("done")]]
        try:
            with ScriptedHost(artifact, model=model, tools={tool: run}, answers=answers) as played:
                played.send("go")
                yield played
        finally:
            loop.run(leave.aclose())


def test_the_allow_list_and_the_read_roots(spawns: Spawns) -> None:
    """What the moderator refuses never gets to the runtime; what it lets pass meets the runtime's own roots."""
    calls = [
        {"arguments": [path]} for path in ("examples/shell/greeting.chatmd", "/etc/passwd", "docs/../../../etc/passwd")
    ]
    with conversation("allow_list", "read_file", *calls) as played:
        shown, *refused = played.outputs
    assert shown == (EXAMPLES / "greeting.chatmd").read_text(encoding="utf-8")
    assert refused == ["Not allowed: only files below docs and examples are read."] * 2
    assert spawns.count == 1


def test_the_runtime_holds_where_the_moderator_is_mistaken(spawns: Spawns) -> None:
    """A link out of the folder passes the moderator, which sees words; the runtime sees where it leads."""
    link = EXAMPLES / "link"
    link.symlink_to("/etc")
    try:
        with conversation("allow_list", "read_file", {"arguments": ["examples/shell/link/passwd"]}) as played:
            (output,) = played.outputs
    finally:
        link.unlink()
    assert json.loads(output)["error"]["code"] == "capability_violation"
    assert spawns.count == 0


def test_a_person_is_asked_before_it_runs(spawns: Spawns) -> None:
    """The escalation of examples/policies over a command that really runs."""
    staging = {"arguments": ["staging"]}
    with conversation("escalation", "deploy", staging, staging, answers=("always",)) as played:
        assert played.outputs == ["deployed staging\n"] * 2
    with conversation("escalation", "deploy", staging, answers=("no",)) as played:
        assert played.outputs == ["A person has declined this call."]
    assert spawns.count == 2
