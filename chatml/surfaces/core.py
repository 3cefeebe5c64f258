"""`CORE`: what every script can name (builtins.md sections 3 and 10)."""

from __future__ import annotations

from chatml.builtins.array import ARRAY
from chatml.builtins.globals import GLOBALS
from chatml.builtins.hashtbl import HASHTBL
from chatml.builtins.json import MODULE as JSON_MODULE
from chatml.builtins.numbers import FLOAT, INT
from chatml.builtins.option import OPTION
from chatml.builtins.path import PATH
from chatml.builtins.schemes import JSON
from chatml.builtins.string import STRING
from chatml.builtins.task import TASK
from chatml.builtins.text import TEXT
from chatml.surfaces.model import Alias, Surface

CORE = Surface(
    globals=GLOBALS,
    modules=(TASK, STRING, ARRAY, OPTION, HASHTBL, JSON_MODULE, PATH, TEXT, INT, FLOAT),
    aliases=(Alias("json", JSON),),
)
