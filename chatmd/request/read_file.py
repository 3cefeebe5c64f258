"""The configured `read_file` tool at run time: its roots, its schema, its calls (chatmd.md sections 8.3 to 8.6)."""

from __future__ import annotations

import os
import os.path
import stat
from collections.abc import Mapping
from typing import Any

import attrs

from chatmd.elements.read_file import NAME, ReadFile, ReadRoot
from chatmd.report.problems import ChatmdError, Diagnostic, fault
from chatmd.sources.files import MIB, is_below, read_regular, reason
from chatmd.sources.paths import HostPaths, InvalidPathError
from chatmd.text.lines import decode

LINES_BUDGET = 380_928
"""The bytes of lines that one call returns at most."""

FILE_BYTES = 256 * MIB
SNIFFED = 8192
MOST_UNREADABLE = 0.3


@attrs.frozen
class OpenRoot:
    """A root as declared, and the directory that it is: absolute, symbolic links followed."""

    root: ReadRoot
    directory: str


class RefusedCallError(ValueError):
    """A call that is not answered; its message says why."""


@attrs.frozen
class ReadFileTool:
    """The tool with its roots found: see `open_read_file`. `launch_dir` is where relative paths start."""

    roots: tuple[OpenRoot, ...]
    launch_dir: str
    description: str | None = None

    def schema(self) -> dict[str, Any]:
        """The tool as a function of a Responses request (section 8.4)."""
        return {
            "type": "function",
            "name": NAME,
            "description": self._describe(),
            "parameters": {
                "type": "object",
                "additionalProperties": False,
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "description": "Path of the file to read."},
                    "root": {
                        "type": "string",
                        "enum": [root.root.id for root in self.roots],
                        "description": "Root directory that `file` is relative to.",
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "Lines to skip at the start of the file.",
                    },
                    "line_count": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "Lines to return at most; all that are left by default.",
                    },
                },
            },
            "strict": False,
        }

    def _describe(self) -> str:
        lines = [
            "Reads a text file. `file` names it; `offset` and `line_count` select lines. A relative path without "
            f"`root` starts from the launch directory {self.launch_dir}.",
            "Roots that may be read:",
        ]
        for root in self.roots:
            about = f": {root.root.description}" if root.root.description else ""
            lines.append(f"- {root.root.id} ({root.directory}){about}")
        lines.append(
            "With `root`, `file` is relative to that root. An absolute `file` goes without `root`. Either way the "
            "file must be inside one of the roots."
        )
        return "\n".join(lines) + (f"\n\n{self.description}" if self.description else "")

    def call(self, arguments: Mapping[str, Any]) -> str:
        """The lines that a call asks for, or `error running read_file: REASON` (sections 8.5 and 8.6)."""
        try:
            return self._read(arguments)
        except RefusedCallError as error:
            return f"error running {NAME}: {error}"

    def _read(self, arguments: Mapping[str, Any]) -> str:
        offset = _count(arguments, "offset") or 0
        line_count = _count(arguments, "line_count")
        file = arguments.get("file", arguments.get("path"))
        if not isinstance(file, str) or not file:
            raise RefusedCallError("`file` must be a path that is not empty")
        target = self._locate(file, arguments.get("root"))
        try:
            if not stat.S_ISREG(os.stat(target).st_mode):
                raise RefusedCallError(f"refusing non-regular file {file}")
            data = read_regular(target, FILE_BYTES)
        except (OSError, ValueError) as error:
            if isinstance(error, RefusedCallError):
                raise
            raise RefusedCallError(f"cannot read {file}: {reason(error)}") from None
        if is_binary(data):
            raise RefusedCallError(f"{file} does not look like a text file")
        return show_lines(file, decode(data), offset, line_count)

    def _locate(self, file: str, root_id: object) -> str:
        """The canonical path of a file that lies inside of one of the roots, whichever was named."""
        if "\0" in file:
            raise RefusedCallError("a path must not hold the character NUL")
        start = self.launch_dir
        if root_id is not None:
            found = next((root for root in self.roots if root.root.id == root_id), None)
            if found is None:
                known = ", ".join(root.root.id for root in self.roots)
                raise RefusedCallError(f"unknown root {root_id!r}: the roots are {known}")
            if os.path.isabs(file):
                raise RefusedCallError("an absolute path cannot be combined with `root`")
            start = found.directory
        try:
            target = os.path.realpath(os.path.join(start, file))
        except (OSError, ValueError) as error:
            raise RefusedCallError(f"cannot read {file}: {reason(error)}") from None
        if not any(is_below(target, root.directory) for root in self.roots):
            raise RefusedCallError(f"{file} is outside the configured read roots")
        return target


def open_read_file(declaration: ReadFile, hosts: HostPaths) -> ReadFileTool:
    """The tool with every root resolved and canonical (section 8.3).

    Raises `ChatmdError` (`shell.directory_unavailable`, one finding per root that is not a directory).
    """
    roots = []
    findings: list[Diagnostic] = []
    for index, root in enumerate(declaration.roots):
        try:
            roots.append(OpenRoot(root, _directory(root, hosts)))
        except InvalidPathError as error:
            where = ("tool", "read", str(index), "path")
            findings += fault(
                "shell.directory_unavailable",
                declaration.span,
                path=where,
                source=declaration.source_record,
                directory=root.path.canonical,
                why=str(error),
            ).diagnostics
    if findings:
        raise ChatmdError(findings)
    launch_dir = os.path.abspath(hosts.tool_dir or os.curdir)
    return ReadFileTool(tuple(roots), launch_dir, declaration.description)


def _directory(root: ReadRoot, hosts: HostPaths) -> str:
    path = hosts.resolve(root.path)
    try:
        directory = os.path.realpath(path, strict=True)
        if not stat.S_ISDIR(os.stat(directory).st_mode):
            raise InvalidPathError(f"{path} is not a directory")
    except OSError as error:
        why = "no such directory" if isinstance(error, FileNotFoundError) else reason(error)
        raise InvalidPathError(f"{path}: {why}") from None
    return directory


def _count(arguments: Mapping[str, Any], name: str) -> int | None:
    """An optional count of lines."""
    value = arguments.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RefusedCallError(f"`{name}` must be a whole number that is not negative")
    return value


def is_binary(data: bytes) -> bool:
    """Whether bytes look like anything but text: a NUL, or many bytes at the start that are not UTF-8."""
    if b"\0" in data:
        return True
    start = data[:SNIFFED].decode("utf-8", "replace")
    return start.count("\ufffd") > MOST_UNREADABLE * len(start)


def show_lines(file: str, text: str, offset: int, line_count: int | None) -> str:
    """The result of a call: which lines, how many there are, the lines themselves within the budget (section 8.6).

    >>> print(show_lines("in.txt", "a\\nb\\nc\\n", 1, 1))
    in.txt:2-2:
    [total_lines=3]
    b
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    selected = lines[offset:] if line_count is None else lines[offset : offset + line_count]
    shown: list[str] = []
    left = LINES_BUDGET
    for line in selected:
        left -= len(line.encode("utf-8")) + 1
        if left < -1:
            break
        shown.append(line)
    last = offset + max(len(shown), 1)
    result = [f"{file}:{offset + 1}-{last}:", f"[total_lines={len(lines)}]", *shown]
    hidden = len(selected) - len(shown)
    if hidden:
        result += ["", "---", f"[File truncated: {hidden} more lines not shown]"]
    return "\n".join(result)
