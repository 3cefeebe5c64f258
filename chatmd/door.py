"""Everything public of `chatmd`. The package reads this file; type checkers do, too (`chatml.lazy.read_door`)."""

from chatmd.document import Document
from chatmd.elements.config import Config, effective_config
from chatmd.elements.history_id import HistoryId
from chatmd.loading.artifact import Artifact, CapturedFile, capture_artifact
from chatmd.loading.loader import load, load_file
from chatmd.loading.refine import Refiner
from chatmd.loading.shell_tools import resolve_runtimes, shell_tools
from chatmd.loading.write import dumps
from chatmd.report.problems import ChatmdError, Diagnostic
from chatmd.request.agent_cache import AgentCache
from chatmd.request.convert import IdentifiedItem, identified_items, to_input_items
from chatmd.request.read_file import ReadFileTool, open_read_file
from chatmd.request.resources import Context
from chatmd.request.tools import check_tools, declared_tools
from chatmd.shell.runtime import Runtime
from chatmd.sources.paths import HostPaths
from chatmd.sources.source import LoadLimits
from chatmd.text.parse import parse_tree
from chatmd.transcript.document import AssistantStream, TraceWriter, set_pending_user_text
from chatmd.transcript.export import Deleted, Halted, Inserted, Replaced, Session, export
from chatmd.transcript.history import Allocator, Entry, checkpoint, materialise_history
from chatmd.transcript.overview import check, describe, show

__all__ = [
    "AgentCache",
    "Allocator",
    "Artifact",
    "AssistantStream",
    "CapturedFile",
    "ChatmdError",
    "Config",
    "Context",
    "Deleted",
    "Diagnostic",
    "Document",
    "Entry",
    "Halted",
    "HistoryId",
    "HostPaths",
    "IdentifiedItem",
    "Inserted",
    "LoadLimits",
    "ReadFileTool",
    "Refiner",
    "Replaced",
    "Runtime",
    "Session",
    "TraceWriter",
    "capture_artifact",
    "check",
    "check_tools",
    "checkpoint",
    "declared_tools",
    "describe",
    "dumps",
    "effective_config",
    "export",
    "identified_items",
    "load",
    "load_file",
    "materialise_history",
    "open_read_file",
    "parse_tree",
    "resolve_runtimes",
    "set_pending_user_text",
    "shell_tools",
    "show",
    "to_input_items",
]
