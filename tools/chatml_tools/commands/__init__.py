"""The command line: `chatml COMMAND …`, each command a module of its own that is loaded when it is called.

Exit status: 0 fine, 1 the input is at fault (diagnostics on standard error), 2 the call or the environment is.
"""

from __future__ import annotations

from chatml_tools.program import CommandLine

CHATML = CommandLine(
    "chatml",
    "Policy as code for LLM conversations.",
    __name__,
    {
        "new": "start a policy project",
        "run": "run a script, or feed events to a moderator",
        "check": "report every error and warning of some scripts",
        "fmt": "rewrite scripts in their canonical layout",
        "types": "print the type of each top-level binding",
        "lsp": "serve an editor",
        "repl": "try statements out, or drive a moderator by hand",
        "test": "hold scripts to what their scenarios expect",
        "replay": "replay stored conversations to a policy",
        "explain": "explain a diagnostic code, with examples",
    },
)

main = CHATML.main
