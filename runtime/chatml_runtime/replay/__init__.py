"""Stored conversations replayed to a policy: what it would have decided (docs/policy-tests.md)."""

from chatml_runtime.replay.findings import Finding, Kind, Replayed
from chatml_runtime.replay.play import replay

__all__ = ["Finding", "Kind", "Replayed", "replay"]
