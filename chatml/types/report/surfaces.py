"""Names that live in a larger surface than the one that a script is compiled with (X-57)."""

from __future__ import annotations

from collections.abc import Mapping

SURFACES = {
    "ui": "Approval Ui",
    "moderator": "Context Item Log Model Process Runtime Schedule Tool Tool_call Turn",
}
"""The modules of the surfaces that add to the core; who names one elsewhere has compiled with another surface."""

SURFACE_TYPES = {"ui": "reply", "moderator": "context event item job_event tool_call tool_desc tool_result"}
"""The aliases of these surfaces."""

SURFACE_NAMES = {"ui": "UI_MODERATOR", "moderator": "MODERATOR"}
"""What the surfaces are called in Python."""


def surface_help(name: str, kinds: Mapping[str, str] = SURFACES) -> str | None:
    """The surface that a name belongs to, and the exact argument that gives it (X-57).

    >>> surface_help("Ui")
    '`Ui` belongs to the surface `ui`: surface=chatml.UI_MODERATOR, --surface ui, in the REPL :surface ui'
    """
    surface = next((surface for surface, names in kinds.items() if name in names.split()), None)
    if surface is None:
        return None
    argument = f"surface=chatml.{SURFACE_NAMES[surface]}"
    return (
        f"`{name}` belongs to the surface `{surface}`: {argument}, --surface {surface}, in the REPL :surface {surface}"
    )
