"""Mount points that exist while a sandbox needs them.

A sandbox can forbid that a command makes `.envrc` in a directory that it may write, by mounting something there. A
mount needs a place, so an empty directory is made for it, outside of the sandbox, and taken away afterwards. It is a
directory whatever the name stands for: Git does not track empty directories, and `rmdir` can only remove an empty one.

Several commands may need the same place at once, from several processes: each holds a shared lock on it, and the one
that turns its lock into an exclusive one removes it. A place that a killed host left behind is told by its mode, and
goes with the next command.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator

from chatml_shell.errors import Refusal

PLACEHOLDER_MODE = stat.S_IFDIR | stat.S_ISVTX | 0o555
"""Nobody gives a directory of theirs this mode."""
ATTEMPTS = 100


def is_placeholder(path: str) -> bool:
    """Whether a directory was made by this module: such a one counts as missing."""
    try:
        return os.lstat(path).st_mode == PLACEHOLDER_MODE
    except OSError:
        return False


@contextlib.contextmanager
def placed(paths: Iterable[str]) -> Iterator[None]:
    """Make directories where nothing is, and remove those that nobody else needs at the end.

    Raises `Refusal` (`spawn_error`) when one cannot be made.
    """
    held: list[tuple[str, int]] = []
    try:
        for path in dict.fromkeys(paths):
            try:
                held.append((path, hold(path)))
            except OSError as error:
                raise Refusal("spawn_error", f"the sandbox needs a mount point at {path}: {error}") from error
        yield
    finally:
        for path, descriptor in held:
            release(path, descriptor)


def hold(path: str) -> int:
    """A descriptor with a shared lock on the placeholder at a path, which is made if need be."""
    for _ in range(ATTEMPTS):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, stat.S_IMODE(PLACEHOLDER_MODE))
            os.chmod(path, stat.S_IMODE(PLACEHOLDER_MODE))  # whatever the umask says
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # whoever made it has just removed it
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
                return descriptor
        except (BlockingIOError, FileNotFoundError):
            pass  # it is being removed
        os.close(descriptor)
    raise OSError(f"the mount point {path} cannot be held")


def release(path: str, descriptor: int) -> None:
    """Remove a placeholder unless another command holds it."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_mode == PLACEHOLDER_MODE:
            os.rmdir(path)
    os.close(descriptor)
