"""Whether a command's effects are within a runtime's capabilities (section 14.3).

The check comes before anybody is asked, and no approval adds to it. Paths are compared where their links lead.
"""

from __future__ import annotations

from chatml_shell.effects.effect import Effect, Effects
from chatml_shell.errors import Refusal
from chatml_shell.plans.grants import Grants
from chatml_shell.resolver.files import within


def check_capabilities(effects: Effects, grants: Grants) -> None:
    """Raise `Refusal` (`capability_violation`) for the first effect that is not granted."""
    for effect in effects:
        missing = _missing(effect, grants)
        if missing is not None:
            raise Refusal(
                "capability_violation",
                f"the effect `{effect}` needs {missing}, which this runtime has not",
                {"effect": str(effect)},
            )


def _missing(effect: Effect, grants: Grants) -> str | None:
    """What a runtime lacks for an effect; None when it lacks nothing."""
    if effect.kind == "read_path":
        granted = within(effect.detail, (*grants.read_roots, *grants.write_roots))
        return None if granted else f"a read root that holds {effect.detail}"
    if effect.kind == "write_path":
        return None if within(effect.detail, grants.write_roots) else f"a write root that holds {effect.detail}"
    power = "arbitrary_code" if effect.kind == "unknown" else effect.kind
    return None if getattr(grants, power) else f"the capability `{power}`"
