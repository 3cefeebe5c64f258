"""Script files: the text that was recorded is the text that runs (section 13, P3 and P12)."""

from __future__ import annotations

import hashlib
import os

from chatml_shell.errors import Refusal
from chatml_shell.plans.executable import Executable
from chatml_shell.plans.request import PreparedScript


def check_launcher(script: PreparedScript, executable: Executable) -> None:
    """See that what executes a script is what was recorded. Raises `Refusal` (`executable_changed`)."""
    if executable.sha256 != script.launcher.sha256:
        raise Refusal("executable_changed", f"{executable.canonical} is not the program that was recorded")


def check_text(script: PreparedScript) -> None:
    """See that a script is what was recorded. Raises `Refusal` (`script_changed`)."""
    try:
        digest = read_digest(script.path, script.max_bytes)
    except (OSError, ValueError) as error:
        why = os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
        raise Refusal("script_changed", f"{script.path} cannot be read again: {why}") from None
    if digest != script.sha256:
        raise Refusal("script_changed", f"{script.path} has changed since its tool was published")


def read_digest(path: str, max_bytes: int) -> str:
    """The SHA-256 of a file of at most so many bytes. Raises `OSError`, and `ValueError` for a larger one."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(f"it is larger than {max_bytes} bytes")
    return hashlib.sha256(data).hexdigest()
