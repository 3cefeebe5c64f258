"""Workspaces: a script that is entered piece by piece, each piece checked and run as it comes.

| module | what it knows |
| --- | --- |
| `workspace` | inputs: checked like one script, run in one engine, taken back |
| `engine` | the evaluator whose script grows |
| `answer` | what an input defined and computed, as lines for a person; `literal` shows the values |
"""

from chatml_tools.workspace.answer import Answer, Result
from chatml_tools.workspace.workspace import Input, Workspace

__all__ = ["Answer", "Input", "Result", "Workspace"]
