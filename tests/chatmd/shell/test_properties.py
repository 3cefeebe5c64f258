"""Invariants of shell declarations. What is generated follows from the shapes that reader and writer interpret."""

from __future__ import annotations

import contextlib
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from chatmd import ChatmdError, Document, dumps, resolve_runtimes
from chatmd.shell import values
from chatmd.shell.access import ModeratorRuntime, ShellAccess
from chatmd.shell.shape import ByPresence, Declared, Form, Slot, records, shape
from chatmd.shell.tool import MODES, POSITIVE, TOOL_BOOL, TOOL_PATH, Fixed, ScriptFile, ShellTool
from chatmd.shell.values import CLEAR, Value
from chatmd.sources.paths import BASES, PathExpr
from chatmd.text import markup
from chatmd.text.tags import SCOPED_TAGS
from tests.chatmd.documents import load

texts = st.text(st.sampled_from("ab \n\t\"'&<>;=$\\{},|#é\U0001f600"), min_size=1, max_size=8).filter(
    lambda text: not text.endswith("\\")
)
"""Attribute values: an ending backslash has no text (chatmd.md section 15.2)."""

optional_texts = st.one_of(st.just(""), texts)
names = st.text(st.sampled_from("abcXYZ_09.:-"), max_size=6).map("r".__add__)
entries = st.text(st.sampled_from("ab &<'-"), min_size=1, max_size=4).filter(lambda text: text.strip() == text)
seconds = st.one_of(
    st.integers(1, 10_000).map(float), st.floats(1e-9, 1e12, allow_nan=False, allow_infinity=False, exclude_min=True)
)
sizes = st.integers(0, 2**63 - 1)
path_texts = st.text(st.sampled_from("ab/. ~$&"), max_size=6)
paths = st.one_of(
    path_texts.map(lambda text: PathExpr(None, "/" + text)),
    st.builds(PathExpr, st.sampled_from(BASES), path_texts),
)

VALUES: list[tuple[Value, Any]] = [
    (values.TEXT, texts),
    (values.BOOL, st.booleans()),
    (TOOL_BOOL, st.booleans()),
    (values.DURATION, seconds),
    (values.LIMIT, st.one_of(seconds, st.just(CLEAR))),
    (values.BYTES, sizes),
    (values.INTEGER, sizes),
    (POSITIVE, sizes.map(lambda size: size or 1)),
    (values.PATH, paths),
    (TOOL_PATH, paths),
    (values.LIST, st.lists(entries, min_size=1, max_size=3).map(tuple)),
    (values.ENV_NAME, st.text(st.sampled_from("AB_& '"), min_size=1, max_size=5)),
    (values.RUNTIME_ID, names),
    (values.REFERENCE, texts),
    (values.STRINGS, st.lists(optional_texts, max_size=3).map(tuple)),
]
"""A value of each type, except of those that know all of theirs."""


HARMLESS = {"phase": "before", "format": "none"}
"""What keeps a generated record from contradicting itself."""


def valued(value: Value, *, may_be_empty: bool = False) -> Any:
    """A value of a type."""
    if value is values.TEXT and may_be_empty:
        return optional_texts
    for known, strategy in VALUES:
        if value is known:
            return strategy
    several = st.lists(st.sampled_from(value.known), min_size=1, max_size=3).map(tuple)
    return several if value.wanted.startswith("a list") else st.sampled_from(value.known)


@st.composite
def made(draw: Any, form: Form, tag: str = "", depth: int = 4) -> Declared:
    """A record as the element of a tag may be read."""
    record = draw(st.sampled_from(records(form)))
    excluded: set[str] = set()
    if isinstance(form, ByPresence):
        chosen = draw(st.sampled_from(sorted(form.records)))
        record, excluded = form.records[chosen], set(form.records) - {chosen}
    known = shape(record)
    fields: dict[str, Any] = {} if known.tag is None else {known.tag: tag}
    for name, attribute in known.attributes.items():
        needed = attribute.required or (isinstance(form, ByPresence) and name in form.records)
        if name not in excluded and (needed or draw(st.booleans())):
            fields[name] = draw(valued(attribute.value, may_be_empty=not needed))
    for name, slot in known.slots.items():
        held = draw(held_in(slot, depth - 1))
        if not slot.single:
            fields[name] = held
        elif held:
            fields[name] = held[0]
    whole = record(**fields)
    if whole.contradiction() is None:
        return whole
    return attrs.evolve(whole, **{name: value for name, value in HARMLESS.items() if name in known.attributes})


def held_in(slot: Slot, depth: int) -> Any:
    """The children of a slot; near the ground only such that hold none."""
    leaves = {tag: form for tag, form in slot.tags.items() if not any(shape(one).slots for one in records(form))}
    tags = slot.tags if depth > 0 or not leaves else leaves
    children = st.sampled_from(sorted(tags)).flatmap(lambda tag: made(tags[tag], tag, depth))
    return st.lists(children, min_size=slot.least, max_size=min(slot.most or 2, 2)).map(tuple)


@st.composite
def tools(draw: Any) -> ShellTool:
    """A tool of any mode, whose parts do not contradict each other."""
    kind = draw(st.sampled_from(sorted(MODES)))
    mode: Any = draw(made(MODES[kind]))
    if isinstance(mode, Fixed):
        line = draw(made(shape(Fixed).slots["line"].tags["command"]))
        command = draw(texts.filter(str.strip))
        source = draw(st.sampled_from([{"command": command}, {"executable_ref": command}, {"line": line}]))
        mode = attrs.evolve(mode, **{"command": None, "executable_ref": None, "line": None, **source})
    if isinstance(mode, ScriptFile):
        mode = attrs.evolve(mode, executable=mode.executable and mode.interpreter is None)
    common = {
        name: draw(valued(attribute.value, may_be_empty=True))
        for name, attribute in shape(ShellTool).attributes.items()
        if attribute.required or draw(st.booleans())
    }
    return ShellTool(mode=mode, **{**common, "name": draw(names), "runtime": draw(names)})


@st.composite
def focused(draw: Any, section: str) -> ShellAccess:
    """A runtime of one section, so that all of them come up often."""
    (form,) = shape(ShellAccess).slots[section].tags.values()
    return ShellAccess(id=draw(names), **{section: draw(made(form))})


sections = [focused(name) for name in shape(ShellAccess).slots]
declarations = st.one_of(made(ShellAccess), made(ModeratorRuntime), tools(), tools(), *sections)


@given(st.lists(declarations, min_size=1, max_size=2).map(tuple))
@settings(max_examples=250)
def test_declarations_read_back(elements: tuple[Any, ...]) -> None:
    """`load(dumps(document))` equals the document, for any declarations; and writing is stable."""
    document = Document(elements)
    text = dumps(document)
    again = load(text)
    assert again == document
    assert hash(again.elements) == hash(document.elements)
    assert repr(again.elements) == repr(document.elements)
    assert dumps(again) == text
    assert {one.code for one in again.warnings} <= {"chatmd.duplicate_moderator_runtime"}


@given(declarations, st.data())
@settings(max_examples=100)
def test_nothing_is_added_unseen(element: Any, data: st.DataObject) -> None:
    """An attribute or a child that an element does not know is refused, wherever it is added."""
    text = dumps(Document((element,)))
    places = [
        at
        for at in range(len(text))
        if any(text.startswith((f"<{tag} ", f"<{tag}/", f"<{tag}>"), at) for tag in SCOPED_TAGS)
    ]
    at = data.draw(st.sampled_from(places))
    name = len(text[at:].replace("/", " ").replace(">", " ").split(" ")[0])
    attribute = text[: at + name] + ' zzz="1"' + text[at + name :]
    assert code(attribute) == "shell.unknown_attribute"
    if at:
        assert code(text[:at] + "<zzz/>" + text[at:]) == "shell.unexpected_text"
        assert code(text[:at] + "<user/>" + text[at:]) in {
            "shell.unknown_element",
            "shell.unknown_matcher",
        }


def code(text: str) -> str | None:
    """The code for which a text does not load."""
    try:
        load(text)
    except ChatmdError as error:
        return error.diagnostics[0].code
    return None


@given(st.one_of(made(ShellAccess), *sections))
@settings(max_examples=100)
def test_a_runtime_that_says_nothing_is_what_it_extends(element: Any) -> None:
    """Extending changes nothing by itself: an empty child resolves to its base, and so does the base's own text."""
    base = attrs.evolve(element, id="base", extends=None)
    child = ShellAccess(id="child", extends="base")
    with contextlib.suppress(ChatmdError):
        runtimes = resolve_runtimes(Document((child, base)))
        assert attrs.evolve(runtimes["child"], id="base") == runtimes["base"]
        again = resolve_runtimes(load(dumps(Document((base,)))))
        assert again["base"] == runtimes["base"]


RECORDS = [ShellAccess, ModeratorRuntime, ShellTool, *MODES.values()]
NAMES = sorted({"id", "kind", "type", "mode", "zzz", *(name for one in RECORDS for name in shape(one).attributes)})
WORDS = ["", "s", "true", "1s", "none", "4KiB", "/", "${hom}", "before", "ui", "shell", "raw", "fixed", "a,b", '["a"]']
given_attributes = st.lists(
    st.tuples(st.sampled_from(NAMES), st.one_of(st.just(True), st.sampled_from(WORDS))), max_size=3
)
nodes = st.recursive(
    st.sampled_from([" ", "text", "<b>", "<!-- -->", ""]),
    lambda inner: st.builds(
        markup.element, st.sampled_from(sorted(SCOPED_TAGS)), given_attributes, st.lists(inner, max_size=3).map("".join)
    ),
    max_leaves=6,
)


@given(st.sampled_from(["shell_access", "tool", "moderator_runtime"]), given_attributes, nodes, st.booleans())
@settings(max_examples=300)
def test_a_declaration_raises_nothing_but_the_error_of_documents(
    tag: str, given: Any, inside: str, named: bool
) -> None:
    """Loading, writing and resolving return or raise a `ChatmdError` that can be drawn, for any tree of elements."""
    if named:
        given = [("id", "s")] if tag == "shell_access" else [("name", "t"), ("type", "shell"), ("runtime", "s")]
    try:
        document = load(markup.element(tag, given, inside))
        dumps(document)
        resolve_runtimes(document)
    except ChatmdError as error:
        for finding in error.diagnostics:
            assert finding.span is not None
            assert finding.code in str(finding)
