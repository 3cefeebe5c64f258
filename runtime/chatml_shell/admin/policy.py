"""The administrator's policy: a JSON file, read strictly."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, get_args

import attrs

from chatmd.shell.policy import Effect
from chatmd.shell.sections import Scope
from chatml.diagnostics.suggest import did_you_mean
from chatml_shell.problems import fault

VARIABLE = "OCHAT_SHELL_ADMIN_POLICY"
"""The environment variable that names the file."""

LARGEST_FILE = 1 << 20
SCOPES: tuple[str, ...] = get_args(Scope)
REVIEWERS = ("ui", "chatml", "model", "executable")

LIMITS = {
    "wall_time_seconds": "wall_time",
    "idle_time_seconds": "idle_time",
    "max_stdin_bytes": "max_stdin",
    "max_stdout_bytes": "stdout",
    "max_stderr_bytes": "stderr",
    "max_total_bytes": "total_output",
    "cpu_seconds": "cpu_time",
    "memory_bytes": "memory",
    "file_size_bytes": "file_size",
    "open_files": "open_files",
}
"""The ceilings of the file, and the attribute of `<limits>` that each is about (E-28)."""

Strings = tuple[str, ...]


@attrs.frozen(kw_only=True)
class AdminPolicy:
    """What documents may ask for at most. Every default allows; None for roots and reviewers is any.

    >>> AdminPolicy().allow_network
    True
    """

    source: str = "default"
    allowed_read_roots: Strings | None = None
    allowed_write_roots: Strings | None = None
    allow_network: bool = True
    allow_child_processes: bool = True
    allow_arbitrary_code: bool = True
    allow_privilege_change: bool = True
    require_sandbox: bool = False
    allow_direct_backend: bool = True
    allow_declared_confinement: bool = True
    allow_external_backends: bool = True
    allow_hooks: bool = True
    allowed_reviewer_kinds: Strings | None = None
    allowed_approval_scopes: Strings = SCOPES
    allow_raw_prefix_grants: bool = True
    allow_yolo: bool = True
    require_executable_hashes: bool = False
    require_trusted_executables: bool = False
    require_audit: bool = False
    require_durable_audit: bool = False
    require_trusted_source: bool = False
    require_signature: bool = False
    denied_programs: Strings = ()
    denied_argument_substrings: Strings = ()
    denied_effects: Strings = ()
    limits: Mapping[str, float] = attrs.field(factory=dict)


def load_admin_policy(environment: Mapping[str, str]) -> AdminPolicy:
    """The policy of the file that the environment names; the permissive one when it names none.

    Raises `ShellError` (`shell.admin_policy_load_failed`) for a file that is missing, damaged or has a field that is
    not known here: a misspelt restriction must not be dropped.
    """
    path = environment.get(VARIABLE)
    if not path:
        return AdminPolicy()
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            _fail(path, f"it is larger than {LARGEST_FILE} bytes")
        given = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except OSError as error:
        _fail(path, os.strerror(error.errno or 0))
    except (ValueError, RecursionError) as error:
        _fail(path, f"it is not JSON in UTF-8: {error}")
    return parse_admin_policy(given, path)


def parse_admin_policy(given: Any, path: str) -> AdminPolicy:
    """A policy from plain data; `path` is what findings call it. Raises `ShellError` as `load_admin_policy` does.

    >>> parse_admin_policy({"allow_network": False}, "/etc/policy.json").allow_network
    False
    """
    if not isinstance(given, dict):
        _fail(path, "it is not one object")
    values: dict[str, Any] = {"source": path}
    for name, value in given.items():
        check = FIELDS.get(name)
        if check is None:
            _fail(path, f"unknown field `{name}`: {did_you_mean(name, FIELDS) or 'see shell.md section 10.3'}")
        try:
            values[name] = check(value)
        except ValueError as error:
            _fail(path, f"`{name}` must be {error}")
    return AdminPolicy(**values)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are there once each: of two, a reader and a writer might mean different ones."""
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key is there twice")
    return record


def _fail(path: str, why: str) -> NoReturn:
    raise fault("shell.admin_policy_load_failed", None, path=("admin",), file=path, why=why) from None


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _texts(value: Any) -> Strings:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError("an array of texts, none of them empty")
    return tuple(value)


def _texts_or_null(value: Any) -> Strings | None:
    return None if value is None else _texts(value)


def _roots(value: Any) -> Strings | None:
    roots = _texts_or_null(value)
    if roots is not None and not all(os.path.isabs(root) for root in roots):
        raise ValueError("an array of absolute paths, or null")
    return roots


def _among(known: Strings, *, optional: bool = False) -> Callable[[Any], Strings | None]:
    def check(value: Any) -> Strings | None:
        if value is None and optional:
            return None
        names = _texts(value)
        if not set(names) <= set(known):
            raise ValueError(f"an array of {', '.join(known)}")
        return names

    return check


def _limits(value: Any) -> Mapping[str, float]:
    if not isinstance(value, dict) or not value.keys() <= LIMITS.keys():
        raise ValueError(f"an object with the fields {', '.join(LIMITS)}")
    ceilings = {name: ceiling for name, ceiling in value.items() if ceiling is not None}
    for ceiling in ceilings.values():
        if isinstance(ceiling, bool) or not isinstance(ceiling, int | float) or not 0 <= ceiling < float("inf"):
            raise ValueError("an object of numbers that are not negative, or null")
    return {LIMITS[name]: ceiling for name, ceiling in ceilings.items()}


FIELDS: dict[str, Callable[[Any], Any]] = {
    "source": _text,
    "allowed_read_roots": _roots,
    "allowed_write_roots": _roots,
    **dict.fromkeys(
        (field.name for field in attrs.fields(AdminPolicy) if field.type in ("bool", bool)),
        _truth,
    ),
    "allowed_reviewer_kinds": _among(REVIEWERS, optional=True),
    "allowed_approval_scopes": _among(SCOPES),
    "denied_programs": _texts,
    "denied_argument_substrings": _texts,
    "denied_effects": _among(get_args(Effect)),
    "limits": _limits,
}
"""How each field of the file is checked; `ValueError` says what it must be."""
