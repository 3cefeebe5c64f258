"""Scenarios: a conversation described as data, played against a moderator script."""

from chatml_runtime.scenario.play import Stage, play
from chatml_runtime.scenario.read import read_scenario
from chatml_runtime.scenario.records import Ending, Record

__all__ = ["Ending", "Record", "Stage", "play", "read_scenario"]
