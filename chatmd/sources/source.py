"""The files that one load reads: imported documents and scripts, with their bounds and their confinement.

Standalone, a `src` may lead anywhere. Hosted (section 17.3), every file must lie below the root document's
directory, by its path as written and by where symbolic links lead.
"""

from __future__ import annotations

import os.path
import re

import attrs

from chatmd.report.problems import fault
from chatmd.report.provenance import SourceRecord
from chatmd.sources.files import MIB, Reader, UnreadableError, is_below, normalised, read_regular, reason
from chatml.source import Span

ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")


@attrs.frozen(kw_only=True)
class LoadLimits:
    """How much a document may make the loader read; each is generous for prompts written by people.

    `file_bytes` bounds one file, `imports` the imports that are expanded, `import_chars` the characters
    that they bring in together, `depth` the levels of files that import files.
    """

    file_bytes: int = 256 * MIB
    imports: int = 10_000
    import_chars: int = 64 * MIB
    depth: int = 128


@attrs.frozen
class Sources:
    """Reads files for one document. `seen` collects what was read: absolute path and bytes."""

    prompt_dir: str
    reader: Reader = read_regular
    confined: bool = False
    limits: LoadLimits = LoadLimits()
    seen: dict[str, bytes] = attrs.field(factory=dict, eq=False)

    def read(self, src: str, record: SourceRecord, span: Span, unavailable: str, path: tuple[str, ...] = ()) -> bytes:
        """The bytes of the file that a `src` names.

        Raises `ChatmdError`: the code `unavailable`, or when confined `chatmd.artifact_absolute_path`,
        `chatmd.artifact_path_escape` or `chatmd.artifact_missing`.
        """
        target = normalised(record.source_dir, src)
        facts = {"src": src, "importer": record.file}
        real = target
        if self.confined:
            if ABSOLUTE.match(src):
                raise fault("chatmd.artifact_absolute_path", span, path=path, source=record, **facts)
            real = os.path.realpath(target) if "\0" not in target else target
            root = os.path.realpath(self.prompt_dir)
            if not is_below(target, self.prompt_dir) or not is_below(real, root):
                raise fault("chatmd.artifact_path_escape", span, path=path, source=record, **facts)
        if target in self.seen:
            return self.seen[target]
        try:
            data = self.reader(real, self.limits.file_bytes)
        except OSError as error:
            code = "chatmd.artifact_missing" if self.confined else unavailable
            raise fault(code, span, path=path, source=record, why=reason(error), **facts) from None
        self.seen[target] = data
        return data


def read_root(path: str, reader: Reader, limits: LoadLimits) -> bytes:
    """The bytes of a root document. Raises `ChatmdError` (`chatmd.document_unavailable`)."""
    try:
        return reader(os.path.abspath(path), limits.file_bytes)
    except (OSError, ValueError) as error:
        why = str(error) if isinstance(error, UnreadableError) else reason(error)
        raise fault("chatmd.document_unavailable", None, file=path, why=why) from None
