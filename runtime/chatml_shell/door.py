"""Everything public of the shell runtime. The package reads this file; type checkers do, too."""

from chatml_shell.errors import Refusal, ShellError, StorageError

__all__ = ["Refusal", "ShellError", "StorageError"]
