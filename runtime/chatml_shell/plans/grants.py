"""What a command may do and use up, with every path and number settled for this machine."""

from __future__ import annotations

import attrs

from chatmd.shell.sections import Sandbox


@attrs.frozen(kw_only=True)
class Grants:
    """The capabilities of a runtime. Roots are absolute, their links resolved, each there once."""

    read_roots: tuple[str, ...]
    write_roots: tuple[str, ...]
    network: bool
    child_processes: bool
    arbitrary_code: bool
    privilege_change: bool
    sandbox: Sandbox


@attrs.frozen(kw_only=True)
class Bounds:
    """The limits of a request: seconds, bytes, a number of open files. None sets no limit."""

    wall_time: float
    idle_time: float | None
    cpu_time: float | None
    max_stdin: int
    stdout: int
    stderr: int
    total_output: int
    memory: int | None
    file_size: int | None
    open_files: int | None

    @property
    def by_system(self) -> bool:
        """Whether a limit is set that only the operating system can keep."""
        return any(limit is not None for limit in (self.cpu_time, self.memory, self.file_size, self.open_files))
