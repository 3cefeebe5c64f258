"""The phases in order: text → syntax tree → types → core → a running instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import attrs

from chatml import ast, core
from chatml.diagnostics import Diagnostic
from chatml.errors import CompileError, RuntimeFailure
from chatml.evaluate import Walker
from chatml.limits import Budget, Limits
from chatml.parse import parse
from chatml.resolve import Exports, resolve
from chatml.source import Source
from chatml.stack import deep
from chatml.surfaces.core import CORE
from chatml.surfaces.model import Builtin, Surface
from chatml.values import BuiltinFunction, Module, Value
