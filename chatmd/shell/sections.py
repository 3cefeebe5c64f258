"""The plain sections of a runtime: what commands may touch, see and use up (shell.md sections 3.1 to 3.4, 3.7, 3.8).

A setting is None where the section leaves it to the runtime that it extends.
"""

from __future__ import annotations

from typing import Literal

from chatmd.shell.shape import ByPresence, Declared, attribute, children, declared, needed
from chatmd.shell.values import (
    BOOL,
    BYTES,
    ENV_NAME,
    INTEGER,
    LIMIT,
    MERGE,
    PATH,
    TEXT,
    Clear,
    Merge,
    choice,
    choices,
)
from chatmd.sources.paths import PathExpr

Sandbox = Literal["required", "preferred", "direct_unsafe"]
Inherit = Literal["none", "safe", "selected", "all_sanitized", "raw"]
Position = Literal["append", "prepend"]
Provider = Literal["ui", "none"]
Unavailable = Literal["deny", "error"]
Scope = Literal["once", "exact_session", "prefix_session", "durable_exact"]


@declared
class Root(Declared):
    """A place that commands may read or write: a path, or the value of an environment variable."""

    path: PathExpr | None = attribute(PATH)
    path_env: str | None = attribute(ENV_NAME)
    optional: bool = attribute(BOOL, False)


ROOT = ByPresence({"path": Root, "path_env": Root}, "shell.invalid_root", "shell.invalid_root")


@declared
class Capabilities(Declared):
    """What commands may do."""

    sandbox: Sandbox | None = attribute(choice(Sandbox))
    network: bool | None = attribute(BOOL)
    child_processes: bool | None = attribute(BOOL)
    arbitrary_code: bool | None = attribute(BOOL)
    privilege_change: bool | None = attribute(BOOL)
    merge: Merge = attribute(MERGE, "append")
    read: tuple[Root, ...] = children({"read": ROOT})
    write: tuple[Root, ...] = children({"write": ROOT})


@declared
class Directory(Declared):
    """A directory of the resolver."""

    path: PathExpr = needed(PATH)


@declared
class Executable(Declared):
    """A program with a name of its own. With `override` it replaces an inherited one of the same id."""

    id: str = needed(TEXT)
    path: PathExpr = needed(PATH)
    sha256: str | None = attribute(TEXT)
    trusted: bool = attribute(BOOL, False)
    override: bool = attribute(BOOL, False)


@declared
class Resolver(Declared):
    """Where programs are found."""

    allow_relative_search_path: bool | None = attribute(BOOL)
    merge: Merge = attribute(MERGE, "append")
    search_path: tuple[Directory, ...] = children({"search_path": Directory})
    trusted_root: tuple[Directory, ...] = children({"trusted_root": Directory})
    executables: tuple[Executable, ...] = children({"executable": Executable}, "named")


@declared
class Set(Declared):
    """A variable gets a value."""

    name: str = needed(ENV_NAME)
    value: str = needed(TEXT)


@declared
class Pass(Declared):
    """A variable of the host is passed on."""

    name: str = needed(ENV_NAME)
    required: bool = attribute(BOOL, False)
    secret: bool = attribute(BOOL, False)


@declared
class Unset(Declared):
    """A variable is taken away."""

    name: str = needed(ENV_NAME)


@declared
class UnsetPrefix(Declared):
    """All variables whose names begin with a text are taken away."""

    value: str = needed(TEXT)


@declared
class PathEntry(Declared):
    """A directory joins `PATH`, at its beginning or at its end."""

    prepend: PathExpr | None = attribute(PATH)
    append: PathExpr | None = attribute(PATH)


@declared
class PathFromEnv(Declared):
    """The directory that a variable of the host names joins `PATH`, `suffix` behind it."""

    name: str = needed(ENV_NAME)
    suffix: str | None = attribute(TEXT)
    position: Position = attribute(choice(Position), "append")
    required: bool = attribute(BOOL, False)


Operation = Set | Pass | Unset | UnsetPrefix | PathEntry | PathFromEnv
INVALID_PATH = "shell.invalid_path_operation"


@declared
class Environment(Declared):
    """What the variables of commands are made of: what is inherited from the host, and operations in order."""

    inherit: Inherit | None = attribute(choice(Inherit))
    merge: Merge = attribute(MERGE, "append")
    operations: tuple[Operation, ...] = children(
        {
            "set": Set,
            "pass": Pass,
            "unset": Unset,
            "unset_prefix": UnsetPrefix,
            "path": ByPresence({"prepend": PathEntry, "append": PathEntry}, INVALID_PATH, INVALID_PATH),
            "path_env": PathFromEnv,
        }
    )


@declared
class Limits(Declared):
    """What a command may use up: seconds, bytes, a number of files. `CLEAR` lifts an inherited limit."""

    wall_time: float | Clear | None = attribute(LIMIT)
    idle_time: float | Clear | None = attribute(LIMIT)
    cpu_time: float | Clear | None = attribute(LIMIT)
    max_stdin: int | None = attribute(BYTES)
    stdout: int | None = attribute(BYTES)
    stderr: int | None = attribute(BYTES)
    total_output: int | None = attribute(BYTES)
    memory: int | None = attribute(BYTES)
    file_size: int | None = attribute(BYTES)
    open_files: int | None = attribute(INTEGER)


@declared
class Approvals(Declared):
    """Who approves, and how far an approval may reach."""

    provider: Provider | None = attribute(choice(Provider))
    unavailable: Unavailable | None = attribute(choice(Unavailable))
    scopes: tuple[Scope, ...] | None = attribute(choices(Scope))
    durable: bool | None = attribute(BOOL)


@declared
class SecretFromEnv(Declared):
    """The value of a variable of the host is secret."""

    name: str = needed(ENV_NAME)
    optional: bool = attribute(BOOL, False)


@declared
class SecretFromFile(Declared):
    """The content of a file is secret, without surrounding white space unless `strip` is false."""

    path: PathExpr = needed(PATH)
    optional: bool = attribute(BOOL, False)
    strip: bool = attribute(BOOL, True)


@declared
class SecretLiteral(Declared):
    """A text is secret."""

    value: str = needed(TEXT)


@declared
class Secrets(Declared):
    """What never leaves the runtime: `replacement` stands in its place."""

    replacement: str | None = attribute(TEXT)
    merge: Merge = attribute(MERGE, "append")
    sources: tuple[SecretFromEnv | SecretFromFile | SecretLiteral, ...] = children(
        {"from_env": SecretFromEnv, "from_file": SecretFromFile, "literal": SecretLiteral}
    )
