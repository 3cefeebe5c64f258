"""From text to document (chatmd.md section 3)."""

from __future__ import annotations

import os
import os.path
from collections.abc import Callable, Mapping

from chatmd.document import Document, TopLevel
from chatmd.elements.config import read_config
from chatmd.elements.message import read_message
from chatmd.elements.reading import Reading
from chatmd.elements.reasoning import read_reasoning
from chatmd.elements.script import Script, check_scripts, read_script
from chatmd.elements.tool import is_shell_tool, read_tool
from chatmd.elements.trace import read_tool_call, read_tool_response
from chatmd.loading.imports import MARK, Expanded, File, expand
from chatmd.loading.refine import Refine, is_enabled
from chatmd.report.problems import ChatmdError, Diagnostic, problem
from chatmd.report.provenance import SourceRecord
from chatmd.shell.read import read_moderator_runtime, read_shell_access
from chatmd.shell.read_tool import read_shell_tool
from chatmd.sources.files import Reader, normalised, read_regular
from chatmd.sources.source import LoadLimits, Sources, read_root
from chatmd.text.lines import decode, digest
from chatmd.text.parse import parse_tree
from chatmd.text.tags import MESSAGE_TAGS
from chatmd.text.tree import Element
from chatml.records import evolve
from chatml.source import Source

PROMPT = "<prompt>"
LIMITS = LoadLimits()
Read = Callable[[Element, Reading], TopLevel]


def load(
    text: str | bytes,
    *,
    base_dir: str | os.PathLike[str],
    source: str = PROMPT,
    refine: Refine | None = None,
    environment: Mapping[str, str] | None = None,
    reader: Reader = read_regular,
    confined: bool = False,
    limits: LoadLimits = LIMITS,
) -> Document:
    """The document that a text says (sections 3 to 9).

    `base_dir` is the directory of the root document: imports and scripts are relative to it. `source` is what
    diagnostics call the text; unless it begins with `<` it is also its path below `base_dir`. `refine`
    rewrites the text first when the meta-refine switch is on (section 3.1; `environment` is looked at for
    it, the process's own by default). `reader` reads files, `confined` refuses any that is not below
    `base_dir` (section 17.3), `limits` bounds what is read.

    Raises `ChatmdError` with the first fault, or with all faults of the scripts taken together; every
    code is in `chatmd/catalogue`.

    >>> document = load("<user>Hello <b>world</b></user><doc src='x'/>", base_dir=".")
    >>> document.elements[0].content
    'Hello <b>world</b>'
    >>> document.warnings[0].code
    'chatmd.ignored_top_level'
    """
    directory = os.path.abspath(base_dir)
    sources = Sources(directory, reader, confined, limits)
    return load_from(sources, decode(text), source, source, refine, environment)


def load_file(
    path: str | os.PathLike[str],
    *,
    refine: Refine | None = None,
    environment: Mapping[str, str] | None = None,
    reader: Reader = read_regular,
    confined: bool = False,
    limits: LoadLimits = LIMITS,
) -> Document:
    """The document in a file: `load` with the file's directory and name; diagnostics name the path as given.

    Raises `ChatmdError`: `chatmd.document_unavailable` when the file cannot be read, else as `load`.
    """
    shown = os.fspath(path)
    directory, name = os.path.split(os.path.abspath(shown))
    text = decode(read_root(shown, reader, limits))
    sources = Sources(directory, reader, confined, limits)
    return load_from(sources, text, name, shown, refine, environment)


def load_from(
    sources: Sources,
    text: str,
    label: str,
    shown: str,
    refine: Refine | None = None,
    environment: Mapping[str, str] | None = None,
) -> Document:
    """The document that a decoded text says: `label` is its name in records, `shown` the one in diagnostics."""
    if refine is not None and is_enabled(text, os.environ if environment is None else environment):
        text = decode(refine(text))
    directory = sources.prompt_dir
    path = None if label.startswith("<") else normalised(directory, label)
    record = SourceRecord(label, path, directory, directory, None, digest(text))
    warnings: list[Diagnostic] = []
    try:
        nodes = parse_tree(Source(shown, text))
    except ChatmdError as error:
        raise ChatmdError([evolve(one, source=record) for one in error.diagnostics]) from None
    placed = expand(nodes, File(record, shown, MARK in text), sources, warnings)
    elements = _read_all(placed, sources, warnings)
    findings = check_scripts([element for element in elements if isinstance(element, Script)])
    if findings:
        raise ChatmdError(findings)
    return Document(tuple(elements), tuple(warnings), record)


def _read_all(placed: list[Expanded], sources: Sources, warnings: list[Diagnostic]) -> list[TopLevel]:
    """The typed elements, in order. What is not an element of a document is left out with a warning."""
    kept = []
    for element, record in placed:
        if element.tag in READERS:
            kept.append((element, record))
        else:
            warnings.append(problem("chatmd.ignored_top_level", element.span, source=record, tag=element.tag))
    _warn_of_overridden(kept, warnings)
    readings: dict[int, Reading] = {}
    elements = []
    for element, record in kept:
        reading = readings.get(id(record))
        if reading is None:
            reading = readings[id(record)] = Reading(record, element.source.name, sources, warnings)
        elements.append(READERS[element.tag](element, reading))
    return elements


def _warn_of_overridden(kept: list[Expanded], warnings: list[Diagnostic]) -> None:
    """Warn of every `<moderator_runtime>` that a later one overrides (section 9.5)."""
    runtimes = [one for one in kept if one[0].tag == "moderator_runtime"]
    for element, record in runtimes[:-1]:
        labels = [(runtimes[-1][0].span, "this one counts")]
        warnings.append(problem("chatmd.duplicate_moderator_runtime", element.span, source=record, labels=labels))


def _read_tool(element: Element, reading: Reading) -> TopLevel:
    return read_shell_tool(element, reading) if is_shell_tool(element) else read_tool(element, reading)


READERS: dict[str, Read] = {
    **dict.fromkeys(MESSAGE_TAGS, read_message),
    "tool_call": read_tool_call,
    "tool_response": read_tool_response,
    "reasoning": read_reasoning,
    "config": read_config,
    "tool": _read_tool,
    "script": read_script,
    "shell_access": read_shell_access,
    "moderator_runtime": read_moderator_runtime,
}
"""How each element of a document is read."""
