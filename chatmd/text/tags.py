"""The closed vocabulary of ChatMD: which names are tags, and where (chatmd.md section 1.2)."""

from __future__ import annotations

MESSAGE_TAGS = frozenset(["msg", "user", "assistant", "system", "developer"])
"""Elements that hold one message of the conversation."""

DECLARATION_TAGS = frozenset(["script", "shell_access", "moderator_runtime"])
"""Elements that declare something to the host and never reach the model."""

TOOL_TAGS = frozenset(["tool", "tool_call", "tool_response"])
HELPER_TAGS = frozenset(["doc", "img", "agent", "import"])

BASE_TAGS = MESSAGE_TAGS | DECLARATION_TAGS | TOOL_TAGS | HELPER_TAGS | {"reasoning", "summary", "config"}
"""The 18 tags that are recognised everywhere."""

# fmt: off
SHELL_TAGS = frozenset([
    "capabilities", "read", "write", "resolver", "search_path", "trusted_root", "executable", "environment",
    "set", "pass", "unset", "unset_prefix", "path", "path_env", "limits", "backends", "seatbelt",
    "bubblewrap", "direct", "external_backend", "cwd_value", "target_executable", "command_argv",
    "read_roots", "write_roots", "network_flag", "resource_limit_args", "policy", "rule", "all", "any",
    "not", "any_command", "program", "basename", "resolved_path", "trusted_executable", "program_regex",
    "argv_prefix", "argument", "argument_contains", "effect", "no_unknown_effects", "raw_shell",
    "chatml_match", "approvals", "reviewers", "reviewer", "interceptors", "interceptor", "match",
    "effect_analysis", "analyzer", "secrets", "from_env", "from_file", "literal", "audit", "filter",
    "command", "arg", "secret_arg", "path_arg", "arguments",
])
# fmt: on
"""The tags that are recognised only while a structured scope is open (section 1.4)."""

SCOPED_TAGS = BASE_TAGS | SHELL_TAGS
"""Every tag that is recognised while a structured scope is open."""

READ_FILE_NAMES = frozenset(["read_file", "get_contents"])
"""The two spellings of the tool whose declaration may hold `<read/>` elements (section 8)."""
