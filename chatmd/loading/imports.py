"""The expansion of imports (chatmd.md section 4).

The tree is walked with a stack of its own: neither nested elements nor nested files take call stack. A
file that is imported often is read and parsed once, and what all imports bring in together is bounded.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

import attrs

from chatmd.report.problems import ChatmdError, Diagnostic, fault, problem
from chatmd.report.provenance import SourceRecord
from chatmd.sources.files import directory_of, normalised, normalised_beside
from chatmd.sources.source import Sources
from chatmd.text import attributes
from chatmd.text.lines import decode, digest
from chatmd.text.parse import parse_tree
from chatmd.text.tree import Element, Node, Text
from chatml.diagnostics.suggest import did_you_mean
from chatml.records import evolve
from chatml.source import Source, Span

NAMESPACE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
KNOWN = ("src", "namespace", "local")
BODIES = frozenset(["user", "system", "developer"])
MARK = "<import"


@attrs.frozen
class File:
    """A document on the current chain of imports; `shown` is its name in diagnostics."""

    record: SourceRecord
    shown: str
    has_imports: bool
    parent: File | None = None
    depth: int = 0

    def chain(self) -> list[File]:
        """This file and those that import it, up to the root."""
        files = []
        file: File | None = self
        while file is not None:
            files.append(file)
            file = file.parent
        return files


Expanded = tuple[Element, SourceRecord]
"""A top-level element, and the record of its file."""


@attrs.define
class _Frame:
    """A list of siblings on its way to `out`. `owner` is the element that they are the children of."""

    nodes: deque[Node]
    file: File
    owner: Element | None
    out: list[tuple[Node, SourceRecord]]
    owns_out: bool


def expand(nodes: Sequence[Node], root: File, sources: Sources, warnings: list[Diagnostic]) -> list[Expanded]:
    """The top-level elements of a document with every import in its place, in order.

    Raises `ChatmdError` with the first fault: `chatmd.import_*`, when confined `chatmd.artifact_*`, and
    whatever is wrong with the text of an imported file.
    """
    if not root.has_imports:
        return [(node, root.record) for node in nodes if isinstance(node, Element)]
    return _Expansion(sources, warnings).run(nodes, root)


class _Expansion:
    """One expansion: counts what comes in, and keeps the trees of the files that were read."""

    def __init__(self, sources: Sources, warnings: list[Diagnostic]) -> None:
        self.sources = sources
        self.warnings = warnings
        self.trees: dict[tuple[str, bool], tuple[Source, str, tuple[Node, ...]]] = {}
        self.imports = 0
        self.characters = 0

    def run(self, nodes: Sequence[Node], root: File) -> list[Expanded]:
        top: list[tuple[Node, SourceRecord]] = []
        stack: list[_Frame] = []
        self.open(stack, nodes, root, None, top, owns_out=True)
        while stack:
            frame = stack[-1]
            if not frame.nodes:
                stack.pop()
                if frame.owns_out and frame.owner is not None:
                    children = tuple(node for node, _ in frame.out)
                    whole = attrs.evolve(frame.owner, children=children)
                    stack[-1].out.append((whole, frame.file.record))
                continue
            node = frame.nodes.popleft()
            if isinstance(node, Text) or not frame.file.has_imports:
                frame.out.append((node, frame.file.record))
            elif node.tag == "import":
                file, children = self.read(node, frame.file, fragment=frame.owner is not None)
                self.open(stack, children, file, frame.owner, frame.out, owns_out=False)
            elif is_site(node):
                self.open(stack, node.children, frame.file, node, [], owns_out=True)
            else:
                frame.out.append((node, frame.file.record))
        return [(node, record) for node, record in top if isinstance(node, Element)]

    def open(
        self,
        stack: list[_Frame],
        nodes: Sequence[Node],
        file: File,
        owner: Element | None,
        out: list[tuple[Node, SourceRecord]],
        *,
        owns_out: bool,
    ) -> None:
        """Begin a list of siblings; its namespaces are checked before any file is read."""
        if file.has_imports:
            check_namespaces(nodes, file.record)
        stack.append(_Frame(deque(nodes), file, owner, out, owns_out))

    def read(self, element: Element, importer: File, *, fragment: bool) -> tuple[File, tuple[Node, ...]]:
        """The file that an import names, and its nodes."""
        src, namespace = self.check(element, importer.record)
        span = attributes.place_of(element, "src")
        path, source, sha256, nodes = self.load(src, importer, span, fragment)
        self.count(source, importer.record, span)
        record = importer.record
        names = ":".join(name for name in (record.namespace, namespace) if name is not None)
        directory = normalised(record.source_dir, directory_of(src))
        imported = SourceRecord(src, path, directory, record.prompt_dir, names or None, sha256)
        return File(imported, source.name, MARK in source.text, importer, importer.depth + 1), nodes

    def load(self, src: str, importer: File, span: Span, fragment: bool) -> tuple[str, Source, str, tuple[Node, ...]]:
        """The path, text, digest and tree of an imported file; refuses cycles and chains that are too deep."""
        record = importer.record
        target = normalised(record.source_dir, src)
        chain = importer.chain()
        if any(file.record.path == target for file in chain):
            names = [file.record.file for file in reversed(chain)]
            route = " -> ".join([*names, src])
            raise fault("chatmd.import_cycle", span, source=record, src=src, route=route)
        if importer.depth >= self.sources.limits.depth:
            most = self.sources.limits.depth
            raise fault("chatmd.import_too_deep", span, source=record, src=src, limit=most)
        if (target, fragment) not in self.trees:
            data = self.sources.read(src, record, span, "chatmd.import_unavailable")
            text = decode(data)
            source = Source(normalised_beside(importer.shown, src), text)
            self.trees[target, fragment] = source, digest(text), self.parse(source, src, importer, fragment)
        return target, *self.trees[target, fragment]

    def parse(self, source: Source, src: str, importer: File, fragment: bool) -> tuple[Node, ...]:
        """The tree of an imported text; its faults carry the record of the file."""
        try:
            return parse_tree(source, fragment)
        except ChatmdError as error:
            record = attrs.evolve(importer.record, file=src, path=normalised(importer.record.source_dir, src))
            raise ChatmdError([evolve(one, source=record) for one in error.diagnostics]) from None

    def count(self, source: Source, record: SourceRecord, span: Span) -> None:
        """Bound what the imports of a document bring in together."""
        self.imports += 1
        self.characters += len(source.text)
        limits = self.sources.limits
        if self.imports > limits.imports:
            what = f"{limits.imports} imports"
        elif self.characters > limits.import_chars:
            what = f"{limits.import_chars} characters"
        else:
            return
        raise fault("chatmd.import_too_large", span, source=record, limit=what)

    def check(self, element: Element, record: SourceRecord) -> tuple[str, str | None]:
        """The `src` and the namespace of an import that is written as it must be (section 4.3)."""
        places = attributes.places(element)
        found: dict[str, str] = {}
        for (name, value), place in zip(element.attrs, places, strict=True):
            if name not in KNOWN:
                advice = did_you_mean(name, KNOWN)
                facts = {"source": record, "help": advice, "attribute": name}
                raise fault("chatmd.import_unknown_attribute", place.name, **facts)
            if name in found:
                raise fault("chatmd.import_duplicate_attribute", place.name, source=record, attribute=name)
            if name == "local":
                self.warnings.append(problem("chatmd.import_local_ignored", place.name, source=record))
            elif not value:
                raise fault("chatmd.import_invalid_attribute", place.name, source=record, attribute=name)
            found[name] = value or ""
        if "src" not in found:
            raise fault("chatmd.import_missing_src", element.span, source=record)
        return found["src"], found.get("namespace")


def is_site(element: Element) -> bool:
    """Whether imports expand among the children of an element (section 4.1)."""
    if element.tag == "msg":
        return attributes.value(element, "role") in BODIES
    return element.tag in BODIES or element.tag == "agent"


def check_namespaces(siblings: Sequence[Node], record: SourceRecord) -> None:
    """Refuse namespaces that are no names, and two equal ones among the imports of one list (section 4.6)."""
    seen: dict[str, Element] = {}
    for node in siblings:
        if isinstance(node, Text) or node.tag != "import":
            continue
        namespace = attributes.value(node, "namespace")
        if not namespace:
            continue
        span = attributes.place_of(node, "namespace")
        if NAMESPACE.fullmatch(namespace) is None:
            raise fault("chatmd.import_invalid_namespace", span, source=record, namespace=namespace)
        if namespace in seen:
            raise fault(
                "chatmd.import_duplicate_namespace",
                span,
                source=record,
                labels=[(seen[namespace].span, "this import has it already")],
                namespace=namespace,
            )
        seen[namespace] = node
