"""What must not come back out of a runtime: the secrets that it declares (section 18.4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from chatmd.shell.sections import SecretFromEnv, SecretFromFile, Secrets
from chatmd.sources.paths import PathExpr
from chatmd.text.attributes import WHITE
from chatml_shell.errors import ShellError
from chatml_shell.problems import fault

LARGEST = 1 << 20


def load_secrets(
    section: Secrets, environment: Mapping[str, str], path: Callable[[PathExpr], str], runtime: str
) -> tuple[str, ...]:
    """The values that a section names. Raises `ShellError`: `shell.environment_missing`, `shell.secret_file_missing`,
    `shell.secret_load_failed`."""
    here = ("runtime", runtime, "secrets")
    values = []
    for source in section.sources:
        if isinstance(source, SecretFromEnv):
            value = environment.get(source.name)
            if value is None and not source.optional:
                raise fault("shell.environment_missing", source.span, path=(*here, source.name), name=source.name)
            values.append(value or "")
        elif isinstance(source, SecretFromFile):
            values.append(_from_file(source, path(source.path), here))
        else:
            values.append(source.value)
    return tuple(value for value in values if value)


def _from_file(source: SecretFromFile, file: str, here: tuple[str, ...]) -> str:
    try:
        with open(file, "rb") as opened:
            data = opened.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ValueError(f"it is larger than {LARGEST} bytes")
        text = data.decode("utf-8")
    except FileNotFoundError:
        if source.optional:
            return ""
        raise fault("shell.secret_file_missing", source.span, path=here, file=file) from None
    except (OSError, ValueError) as error:
        raise _failed(source, file, here, error) from None
    return text.strip(WHITE) if source.strip else text


def _failed(source: SecretFromFile, file: str, here: tuple[str, ...], error: Exception) -> ShellError:
    """The finding about a file that cannot be read; it says nothing of what is in it."""
    if isinstance(error, OSError):
        why = os.strerror(error.errno or 0)
    else:
        why = "it is not UTF-8" if isinstance(error, UnicodeError) else str(error)
    return fault("shell.secret_load_failed", source.span, path=here, file=file, why=why)
