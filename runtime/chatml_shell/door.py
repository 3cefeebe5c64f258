"""Everything public of the shell runtime, imported at once when the package is first asked for a name."""

from chatml_shell.approvals.answers import Deny, ForScope, Once
from chatml_shell.approvals.broker import ApprovalBroker, GivenAnswers, UnknownQuestionError
from chatml_shell.approvals.question import Question, Unanswered
from chatml_shell.authority.authoriser import AuthoriseOnce, Grant, Reject, once, only, reject
from chatml_shell.backends.fake import Fake
from chatml_shell.errors import Refusal, ShellError, StorageError
from chatml_shell.instantiate.host import Host, host_paths
from chatml_shell.instantiate.tools import LiveTool
from chatml_shell.manifest.compile import compile_manifest
from chatml_shell.manifest.record import Manifest
from chatml_shell.registry.opening import open_registry
from chatml_shell.registry.registry import CallOutcome, ProcessError, Registry, UnknownToolError

__all__ = [
    "ApprovalBroker",
    "AuthoriseOnce",
    "CallOutcome",
    "Deny",
    "Fake",
    "ForScope",
    "GivenAnswers",
    "Grant",
    "Host",
    "LiveTool",
    "Manifest",
    "Once",
    "ProcessError",
    "Question",
    "Refusal",
    "Registry",
    "Reject",
    "ShellError",
    "StorageError",
    "Unanswered",
    "UnknownQuestionError",
    "UnknownToolError",
    "compile_manifest",
    "host_paths",
    "once",
    "only",
    "open_registry",
    "reject",
]
