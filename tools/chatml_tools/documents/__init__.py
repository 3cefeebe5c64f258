"""The command line for documents: `chatmd COMMAND …`."""

from __future__ import annotations

from chatml_tools.program import CommandLine

CHATMD = CommandLine(
    "chatmd",
    "Prompt documents and transcripts of LLM conversations.",
    __name__,
    {
        "check": "report every error and warning of some documents",
        "show": "show what the model sees of a document, and what it asks of the host",
        "convert": "convert a conversation between ChatMD, input items and nr-chat",
        "export": "write a session as a document: its prompt, then what was said",
        "tools": "show the tools of a document as a model sees them",
        "call": "call a shell tool of a document, as a model would",
        "shell": "inspect and audit what a document may run; take approvals back",
        "tail": "print the messages of a growing nr-chat file as they come",
    },
)

main = CHATMD.main
