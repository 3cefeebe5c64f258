"""Start a project: a policy, a scenario that holds it to its word, a prompt document, and a README."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

from chatml_tools.arguments import Arguments
from chatml_tools.console import UsageError

NAME = "NAME"
"""What stands for the name of the project in its README."""


def configure(arguments: Arguments) -> None:
    arguments.add("directory", metavar="DIR", help="a directory that does not exist yet, or an empty one")


def execute(args: SimpleNamespace) -> int:
    directory = Path(args.directory)
    try:
        written = create(directory)
    except OSError as error:
        raise UsageError(f"cannot create {error.filename or directory}: {error.strerror or error}") from None
    print(f"created {directory}: {', '.join(written)}")
    print(f"next: chatml test {directory}")
    return 0


def create(directory: Path) -> list[str]:
    """Write the files of a new project, and return their names."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UsageError(f"{directory} exists and is not empty: name a new directory")
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in templates():
        if name == "README.md":
            text = text.replace(NAME, directory.resolve().name or "policy", 1)
        (directory / name).write_text(text, encoding="utf-8")
        written.append(name)
    return written


def templates() -> Iterator[tuple[str, str]]:
    """The files of a project, by name."""
    folder = files("chatml_tools") / "templates" / "policy"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        yield file.name, file.read_text(encoding="utf-8")
