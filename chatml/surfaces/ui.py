"""`UI_MODERATOR`: what the script of a moderator can name where a person can be asked (builtins.md section 6)."""

from __future__ import annotations

from chatml.builtins.operations import APPROVAL, REPLY, UI
from chatml.surfaces.model import Alias, Surface
from chatml.surfaces.moderator import MODERATOR

UI_MODERATOR = MODERATOR.combine(Surface(modules=(UI, APPROVAL), aliases=(Alias("reply", REPLY),)))
