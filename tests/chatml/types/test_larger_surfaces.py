"""A name of a larger surface is reported with that surface and the exact argument (X-57)."""

from __future__ import annotations

import pytest

import chatml
from chatml.types.report.surfaces import SURFACE_TYPES, SURFACES

LARGER = {"moderator": (chatml.CORE, chatml.MODERATOR), "ui": (chatml.MODERATOR, chatml.UI_MODERATOR)}


@pytest.mark.parametrize("name", LARGER)
def test_the_tables_are_true(name: str) -> None:
    smaller, larger = LARGER[name]
    modules = {module.name for module in larger.modules} - {module.name for module in smaller.modules}
    aliases = {alias.name for alias in larger.aliases} - {alias.name for alias in smaller.aliases}
    assert set(SURFACES[name].split()) == modules
    assert set(SURFACE_TYPES.get(name, "").split()) == aliases


@pytest.mark.parametrize(
    ("text", "surface", "argument"),
    [
        ("let f q = Approval.ask_text(q)", chatml.MODERATOR, "surface=chatml.UI_MODERATOR, --surface ui"),
        ("let f q = Ui.notify(q)", chatml.CORE, "surface=chatml.UI_MODERATOR, --surface ui"),
        ("let deny r = Tool.reject(r)", chatml.CORE, "surface=chatml.MODERATOR, --surface moderator"),
        ("open Tool", chatml.CORE, "surface=chatml.MODERATOR, --surface moderator"),
        ("let f : item -> string = fun i -> i.id", chatml.CORE, "surface=chatml.MODERATOR, --surface moderator"),
    ],
)
def test_the_argument_is_named(text: str, surface: chatml.Surface, argument: str) -> None:
    (diagnostic,) = chatml.check(text, surface=surface)
    assert diagnostic.help is not None
    assert argument in diagnostic.help
