"""Outcomes of policy tests as JUnit XML, which continuous integration systems read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from xml.etree import ElementTree

from chatml_tools.testing.run import Outcome
from chatml_tools.testing.show import describe, tally

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document can hold, not even escaped."""


def junit(outcomes: Sequence[Outcome]) -> bytes:
    """A document with a suite, and a case per scenario."""
    found = tally(outcomes)
    totals = {
        "name": "chatml",
        "tests": str(len(outcomes)),
        "failures": str(found["failed"]),
        "errors": str(found["error"]),
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }
    root = ElementTree.Element("testsuites", totals)
    suite = ElementTree.SubElement(root, "testsuite", totals)
    for outcome in outcomes:
        path = PurePath(outcome.path)
        attributes = {
            "classname": path.parent.as_posix(),
            "name": path.name,
            "file": path.as_posix(),
            "time": f"{outcome.seconds:.3f}",
        }
        case = ElementTree.SubElement(suite, "testcase", {key: clean(text) for key, text in attributes.items()})
        if outcome.status in KINDS:
            kind, message = KINDS[outcome.status]
            told = ElementTree.SubElement(case, kind, {"message": message})
            told.text = clean(describe(outcome))
    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


KINDS = {
    "failed": ("failure", "the script does not do what is expected"),
    "error": ("error", "the scenario could not be run"),
}


def clean(text: str) -> str:
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
