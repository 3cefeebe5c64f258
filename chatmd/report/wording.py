"""How the code of a finding becomes a sentence."""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen
class Wording:
    """How a code is put into words: templates over the facts of a finding."""

    message: str
    help: str | None = None
    severity: Literal["error", "warning"] = "error"
