"""Capturing a document with everything it loads (chatmd.md section 17.3).

A hosted session does not run the files that someone may edit meanwhile: it runs a copy, taken once, of the root
document and of every file that imports and scripts reach, all of them below the root document's directory.
"""

from __future__ import annotations

import hashlib
import os
import os.path

import attrs

from chatmd.loading.loader import LIMITS, load_from
from chatmd.sources.files import Reader, normalised, read_regular
from chatmd.sources.source import LoadLimits, Sources, read_root
from chatmd.text.lines import decode


@attrs.frozen
class CapturedFile:
    """A file of the captured tree: its path below the root directory, and the SHA-256 of its bytes."""

    path: str
    sha256: str


@attrs.frozen
class Artifact:
    """A captured tree: load it with `chatmd.load_file(artifact.root, confined=True)`.

    `directory` is what `${prompt_dir}` means for the session; `files` lists the root first.
    """

    directory: str
    root: str
    files: tuple[CapturedFile, ...]


def capture_artifact(
    path: str | os.PathLike[str],
    into: str | os.PathLike[str],
    *,
    reader: Reader = read_regular,
    limits: LoadLimits = LIMITS,
) -> Artifact:
    """Copy a document and all it loads into the directory `into`, which must be new or empty.

    Raises `ChatmdError`: `chatmd.artifact_absolute_path`, `chatmd.artifact_path_escape`,
    `chatmd.artifact_missing`, `chatmd.document_unavailable`, and whatever keeps the document from loading; then
    nothing has been written. Raises `OSError` when the copy cannot be written, `FileExistsError` when `into` holds
    files already.
    """
    shown = os.fspath(path)
    directory, name = os.path.split(os.path.abspath(shown))
    root = read_root(shown, reader, limits)
    sources = Sources(directory, reader, True, limits)
    load_from(sources, decode(root), name, shown)
    contents = {normalised(directory, name): root, **sources.seen}
    target = os.path.abspath(into)
    os.makedirs(target, mode=0o700, exist_ok=True)
    if os.listdir(target):
        raise FileExistsError(f"{target} is not empty")
    files = []
    for original, data in contents.items():
        relative = os.path.relpath(original, directory)
        _write(os.path.join(target, relative), data)
        files.append(CapturedFile(relative, hashlib.sha256(data).hexdigest()))
    return Artifact(target, os.path.join(target, name), tuple(files))


def _write(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
