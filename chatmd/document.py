"""A document: what a ChatMD file says, typed (chatmd.md section 5.2)."""

from __future__ import annotations

from typing import TypeVar

import attrs

from chatmd.elements.config import Config, effective_config
from chatmd.elements.message import Message
from chatmd.elements.read_file import ReadFile
from chatmd.elements.reasoning import Reasoning
from chatmd.elements.script import ModeratorScript, Script, ShellScript
from chatmd.elements.tool import AgentTool, Builtin, Command, McpTool
from chatmd.elements.trace import ToolCall, ToolResponse
from chatmd.report.problems import Diagnostic
from chatmd.report.provenance import SourceRecord
from chatmd.shell.access import ModeratorRuntime, ShellAccess
from chatmd.shell.tool import ShellTool

ToolDecl = Builtin | ReadFile | Command | AgentTool | McpTool | ShellTool
RuntimeDecl = ShellAccess | ModeratorRuntime
TopLevel = (
    Message | ToolCall | ToolResponse | Reasoning | Config | ToolDecl | ModeratorScript | ShellScript | RuntimeDecl
)
"""Everything that a document is made of."""

T = TypeVar("T")


@attrs.frozen
class Document:
    """A loaded document: its elements in order, imports expanded. Two are equal when their elements are.

    `warnings` says what the loader made nothing of; `root` is the record of the root text.

    >>> import chatmd
    >>> document = chatmd.load("<config model='m'/><user>Hi</user>", base_dir=".")
    >>> document.config.model, document.elements[1].content
    ('m', 'Hi')
    """

    elements: tuple[TopLevel, ...]
    warnings: tuple[Diagnostic, ...] = attrs.field(default=(), eq=False)
    root: SourceRecord | None = attrs.field(default=None, eq=False)

    @property
    def config(self) -> Config:
        """The effective configuration: the first one, or an empty one (section 6)."""
        return effective_config(self.elements)

    @property
    def scripts(self) -> tuple[Script, ...]:
        """All scripts, the moderator included, in order."""
        return tuple(element for element in self.elements if isinstance(element, Script))

    @property
    def moderator(self) -> ModeratorScript | None:
        """The script that moderates the conversation, if there is one."""
        return next((element for element in self.elements if isinstance(element, ModeratorScript)), None)

    @property
    def shell_runtimes(self) -> tuple[ShellAccess, ...]:
        """The declared shell runtimes, in order."""
        return tuple(element for element in self.elements if isinstance(element, ShellAccess))

    @property
    def moderator_runtime(self) -> ModeratorRuntime | None:
        """The shell runtime of the moderator's processes: the last one declared, if any (section 9.5)."""
        return next((one for one in reversed(self.elements) if isinstance(one, ModeratorRuntime)), None)

    @property
    def tools(self) -> tuple[ToolDecl, ...]:
        """The tool declarations, in order."""
        return tuple(element for element in self.elements if isinstance(element, ToolDecl))
