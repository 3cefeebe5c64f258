"""Everything public of the shell runtime, imported at once when the package is first asked for a name."""

from chatml_shell.errors import Refusal, ShellError, StorageError

__all__ = ["Refusal", "ShellError", "StorageError"]
