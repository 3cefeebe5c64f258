"""A session as a document: its prompt, then what was said, then what the moderator changed (chatmd.md section 16).

The moderator's changes are shown, never applied: the history stays what it was.
"""

from __future__ import annotations

import os
import os.path
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from chatmd.elements.history_id import HistoryId
from chatmd.sources.files import MIB, read_regular, replace_file
from chatmd.text import markup
from chatmd.transcript.document import DATA_DIR
from chatmd.transcript.history import Entry, fingerprint
from chatmd.transcript.trace_text import ItemDict, UnknownItemError, block, message_text

PROMPT_BYTES = 256 * MIB


@attrs.frozen
class Inserted:
    """An item that the moderator added before or after the history."""

    item: ItemDict


@attrs.frozen
class Replaced:
    """An item that the moderator shows in place of the entry `target`."""

    target: str
    item: ItemDict


@attrs.frozen
class Deleted:
    """An entry that the moderator hides."""

    target: str


@attrs.frozen
class Halted:
    """The moderator ended the session."""

    reason: str


OverlayEntry = Inserted | Replaced | Deleted | Halted


@attrs.frozen(kw_only=True)
class Session:
    """What an export is made of.

    `prompt_file` is the document that the session began with, `history` every entry in order, `checkpoint` the
    fingerprints of the entries that came from the document (`chatmd.checkpoint`): an entry that is still
    the same is not written again. `overlay` lists the moderator's changes: prepended and appended items,
    replacements, deletions, the halt. Payload files are taken from the `.chatmd` directories beside the prompt, in
    `cwd` and in `session_dir`.
    """

    prompt_file: str | os.PathLike[str]
    history: Sequence[Entry] = ()
    checkpoint: Mapping[HistoryId, str] = attrs.field(factory=dict)
    overlay: Sequence[OverlayEntry] = ()
    cwd: str | os.PathLike[str] = attrs.field(factory=os.getcwd)
    session_dir: str | os.PathLike[str] | None = None


def export(
    session: Session,
    target: str | os.PathLike[str],
    *,
    overwrite: bool | Callable[[str], bool] = False,
) -> None:
    """Write a session as a document that loads (section 16.4).

    The prompt comes first, byte by byte; then, each on its own lines, the entries that are not unchanged since the
    checkpoint, then the moderator's changes. Payload files are copied into `.chatmd` beside the target.

    `overwrite` says whether an existing target may be replaced, or is asked with its path. Raises
    `FileExistsError` when it may not, `OSError` when a file cannot be read or written.
    """
    path = os.path.abspath(target)
    if os.path.exists(path) and not (overwrite(path) if callable(overwrite) else overwrite):
        raise FileExistsError(f"{path} exists already")
    prompt = read_regular(os.path.abspath(session.prompt_file), PROMPT_BYTES)
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    appended = history_text(session.history, session.checkpoint) + overlay_text(session.overlay)
    between = b"" if not appended or not prompt or prompt.endswith(b"\n") else b"\n"
    _copy_payloads(session, directory)
    replace_file(path, prompt + between + appended.encode("utf-8", "replace"))


def history_text(history: Iterable[Entry], checkpoint: Mapping[HistoryId, str]) -> str:
    """The entries that are new or changed since the checkpoint, as blocks with their identities (section 16.3)."""
    return "".join(
        _block_or_note(entry.item, entry.id) for entry in history if checkpoint.get(entry.id) != fingerprint(entry.item)
    )


def overlay_text(overlay: Iterable[OverlayEntry]) -> str:
    """The moderator's changes as messages, in the order given (section 16.5).

    >>> print(overlay_text([Deleted("2:s1:0"), Halted("done")]), end="")
    <msg role="developer" id="moderation-deletion-2:s1:0">
    Moderator deleted message "2:s1:0" from the effective transcript.
    </msg>
    <msg role="developer" id="moderation-halt">
    Session ended by moderator: done
    </msg>
    """
    return "".join(OVERLAY[type(entry)](entry) for entry in overlay)


def _inserted(entry: Inserted) -> str:
    return _shown(entry.item)


def _replaced(entry: Replaced) -> str:
    shown = _shown(entry.item).removesuffix("\n")
    text = f'Moderator replaced item "{entry.target}" with:\n{shown}'
    return _note(f"moderation-replacement-{entry.target}", text)


def _deleted(entry: Deleted) -> str:
    text = f'Moderator deleted message "{entry.target}" from the effective transcript.'
    return _note(f"moderation-deletion-{entry.target}", text)


def _halted(entry: Halted) -> str:
    return _note("moderation-halt", f"Session ended by moderator: {entry.reason}")


OVERLAY: dict[type, Callable[[Any], str]] = {
    Inserted: _inserted,
    Replaced: _replaced,
    Deleted: _deleted,
    Halted: _halted,
}


def _note(identity: str, text: str) -> str:
    """A message to developers that says what the moderator did."""
    return markup.element("msg", [("role", "developer"), ("id", identity)], _on_lines(text)) + "\n"


def _on_lines(text: str) -> str:
    """A text on lines of its own, in a RAW block when it is not plain."""
    return f"\n{text}\n" if markup.is_plain(text) else markup.framed(text)


def _shown(item: ItemDict) -> str:
    """An item of the overlay as an element, without an identity in the history."""
    try:
        kind = item.get("type", "message")
        if kind == "message":
            return _shown_message(item)
        if kind == "reasoning":
            text = " ".join(str(summary["text"]) for summary in item.get("summary") or ())
            return _output(str(item["id"]), text)
        return block(item)
    except (UnknownItemError, KeyError, TypeError, AttributeError):
        return _invalid(item)


def _shown_message(item: ItemDict) -> str:
    role = str(item["role"])
    text = message_text(item)
    if role == "assistant" and item.get("id") is not None:
        return _output(str(item["id"]), text)
    if role in ("user", "assistant"):
        return markup.element(role, [], _on_lines(text)) + "\n"
    return markup.element("msg", [("role", role)], _on_lines(text)) + "\n"


def _output(identity: str, text: str) -> str:
    return markup.element("msg", [("role", "assistant"), ("id", identity)], _on_lines(text)) + "\n"


def _invalid(item: object) -> str:
    identity = item.get("id") if isinstance(item, Mapping) else None
    return _note(str(identity or "moderation-invalid"), "Invalid moderation item")


def _block_or_note(item: ItemDict, identity: HistoryId) -> str:
    try:
        return block(item, identity)
    except UnknownItemError as error:
        return _note(f"invalid-{identity}", f"This entry of the history cannot be shown: {error}")


def _copy_payloads(session: Session, directory: str) -> None:
    """Copy the payload files of every `.chatmd` directory of the session; later ones win, missing ones are skipped."""
    target = os.path.realpath(os.path.join(directory, DATA_DIR))
    places = [os.path.dirname(os.path.abspath(session.prompt_file)), session.cwd, session.session_dir]
    sources = [os.path.realpath(os.path.join(place, DATA_DIR)) for place in places if place is not None]
    for source in dict.fromkeys(sources):
        if source == target or not os.path.isdir(source):
            continue
        os.makedirs(target, mode=0o700, exist_ok=True)
        with os.scandir(source) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    copied = os.path.join(target, entry.name)
                    shutil.copyfile(entry.path, copied, follow_symlinks=False)
                    os.chmod(copied, 0o600)
