"""Rewriting the expectations of a scenario in place: what still holds, and the rest of the file, stays as it is."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence

from chatmd.nrchat import stringify_json5
from chatml.diagnostics.errors import CompileError
from chatml.source import Source
from chatml.stack import deep
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.vocabulary import Phase
from chatml_runtime.scenario import read_scenario
from chatml_runtime.scenario.document import parse
from chatml_runtime.scenario.expectations import compare, split_ending
from chatml_runtime.scenario.locate import locate, locate_elements
from chatml_runtime.scenario.records import DECISIONS_AND_REQUESTS, Ending, Record

WIDTH = 110
"""Columns that a line of expectations may take, if it can be broken."""

STEP = "  "

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class UpdateError(Exception):
    """The expectations of this file cannot be rewritten."""


def update(
    path: str, data: bytes, source: Source, expect: Sequence[Json], records: Sequence[Record], ending: Ending
) -> None:
    """Write the scenario with expectations that hold. `UpdateError` if it cannot have any, or cannot be written.

    `data` is the file's content, `source` its text.
    """
    wanted = revised(expect, records, ending)
    text = rewrite(source, expect, wanted)
    if "\r\n" in source.text:
        text = re.sub(r"\r?\n", "\r\n", text)
    if not says(text, wanted):
        raise UpdateError(f"{path} is written in a way that its expectations cannot be rewritten: delete `expect`")
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        with open(path, "wb") as file:
            file.write(mark + text.encode("utf-8"))
    except OSError as error:
        raise UpdateError(f"cannot write {path}: {error.strerror or error}") from None


def says(text: str, wanted: list[Json]) -> bool:
    """Whether a text is a scenario with these expectations."""
    try:
        return same(list(read_scenario(text).expect or ()), wanted)
    except CompileError:
        return False


def same(left: Json, right: Json) -> bool:
    """Whether each has all that the other has."""
    return not compare(left, right) and not compare(right, left)


def revised(expect: Sequence[Json], records: Sequence[Record], ending: Ending) -> list[Json]:
    """Expectations that hold: those there are, of the same keys, and a summary of each further record."""
    of_records, of_ending = split_ending(expect)
    wanted = []
    state: Json = None
    for index, record in enumerate(records):
        told = record.to_json()
        wanted.append(revise(of_records[index], told) if index < len(of_records) else summary(told, state))
        state = told["state"]
    return wanted + [revise(expected, ending.to_json()) for expected in of_ending]


def revise(expected: Json, told: Mapping[str, Json]) -> Json:
    """An expectation of the same keys that holds."""
    return {key: part if not compare(part, told[key]) else told[key] for key, part in expected.items()}


def summary(told: Mapping[str, Json], state: Json) -> Json:
    """What is worth expecting of a record: phase and status, the state if it is another, what there was to see.

    What the scenario itself says is left out, and so are effects that show as a decision or a request, and places,
    which change with every edit of the script.
    """
    kept = {key: value for key, value in told.items() if key in ALWAYS or (value and key != "emitted")}
    if told["state"] == state:
        del kept["state"]
    if told["phase"] != Phase.INTERNAL_EVENT:
        kept.pop("event", None)
    if all(effect["op"] in DECISIONS_AND_REQUESTS for effect in told["effects"]):
        kept.pop("effects", None)
    elif "effects" in kept:
        kept["effects"] = [{"op": effect["op"], "args": effect["args"]} for effect in told["effects"]]
    return kept


ALWAYS = ("phase", "status")


def rewrite(source: Source, expect: Sequence[Json], wanted: Sequence[Json]) -> str:
    """The text with other expectations. Those that have not changed stay as they are written."""
    root = parse(source).data
    if not isinstance(root, dict) or "events" not in root:
        raise UpdateError(
            f"{source.name} is a list of events; to expect something, write {{ events: […], expect: […] }}"
        )
    if "expect" not in root:
        after = locate(source, 0, ("events",)).right
        return splice(source.text, after, after, f",\n{STEP}expect: {layout(list(wanted), STEP)}")
    if not expect or not wanted:
        whole = locate(source, 0, ("expect",))
        left = source.text.index("[", whole.left)
        return splice(source.text, left, whole.right, layout(list(wanted), margin(source, whole.left)))
    return rewrite_elements(source, expect, wanted)


def rewrite_elements(source: Source, expect: Sequence[Json], wanted: Sequence[Json]) -> str:
    """The text with elements of the list replaced, and added or left out at its end; neither list is empty."""
    both = min(len(expect), len(wanted))
    spans = locate_elements(source, 0, ("expect",))
    edge = margin(source, spans[both - 1].left)
    pieces = [source.text[: spans[0].left]]
    for index in range(both):
        if index:
            pieces.append(source.text[spans[index - 1].right : spans[index].left])
        kept = same(expect[index], wanted[index])
        pieces.append(spans[index].text if kept else layout(wanted[index], edge))
    pieces += [f",\n{edge}{layout(element, edge)}" for element in wanted[both:]]
    return "".join([*pieces, source.text[spans[-1].right :]])


def splice(text: str, left: int, right: int, put: str) -> str:
    return text[:left] + put + text[right:]


def margin(source: Source, offset: int) -> str:
    """The white space before the line of an offset."""
    line = source.line(source.position(offset).line)
    return line[: len(line) - len(line.lstrip())]


def layout(data: Json, edge: str) -> str:
    """JSON5 of some data, on one line if that is not too long, else an element per line. `edge` is the margin."""
    with deep():
        return lay_out(data, edge)


def lay_out(data: Json, edge: str) -> str:
    flat = one_line(data)
    if not isinstance(data, (dict, list)) or not data or (len(edge) + len(flat) <= WIDTH and not is_records(data)):
        return flat
    inner = edge + STEP
    if isinstance(data, dict):
        rows = [f"{inner}{key_text(key)}: {lay_out(part, inner)},\n" for key, part in data.items()]
        return f"{{\n{''.join(rows)}{edge}}}"
    rows = [f"{inner}{lay_out(part, inner)},\n" for part in data]
    return f"[\n{''.join(rows)}{edge}]"


def is_records(data: Json) -> bool:
    """Whether this is the list of expectations, which has a line for each."""
    return isinstance(data, list) and any(isinstance(part, dict) and "status" in part for part in data)


def one_line(data: Json) -> str:
    if isinstance(data, dict) and data:
        return f"{{ {', '.join([f'{key_text(key)}: {one_line(part)}' for key, part in data.items()])} }}"
    if isinstance(data, list):
        return f"[{', '.join([one_line(part) for part in data])}]"
    return stringify_json5(data).encode("utf-8", "backslashreplace").decode("utf-8")


def key_text(key: str) -> str:
    return key if NAME.fullmatch(key) else one_line(key)
