"""What tests of the shell runtime share."""

from tests.shell.registries import counted, recorded

__all__ = ["counted", "recorded"]
