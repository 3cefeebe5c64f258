"""Running policy tests: each scenario is played to its script, and comes to an outcome."""

from __future__ import annotations

import time
from typing import Literal, TypeAlias

from chatml.diagnostics.errors import CompileError, RuntimeFailure
from chatml.diagnostics.model import Diagnostic
from chatml.pipeline import warnings_of
from chatml.records import evolve, frozen
from chatml.source import Source
from chatml.syntax.decode import decode
from chatml_runtime.scenario import Ending, Record, play, read_scenario
from chatml_runtime.scenario.expectations import Mismatch, check_expectations
from chatml_runtime.script.scripts import CompiledScript, ScriptArtifact, compile_script
from chatml_tools.console import UsageError, hardened, read_bytes
from chatml_tools.coverage import Coverage
from chatml_tools.scripts import SURFACES, read_source
from chatml_tools.testing.find import SUFFIX, script_of
from chatml_tools.testing.update import UpdateError, update

Status: TypeAlias = Literal["passed", "failed", "error", "updated"]


@frozen(eq=False)
class Outcome:
    """What came of one scenario.

    `failed` has mismatches; `error` has diagnostics, or a message: the script or the scenario could not be run. Other
    outcomes may have warnings about the scenario as `diagnostics`, the first one of a script also those about it.
    `seconds` is how long it took.
    """

    path: str
    script: str | None
    status: Status
    source: Source | None = None
    records: tuple[Record, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    message: str | None = None
    seconds: float = 0.0


class Runner:
    """Runs scenarios; compiles each script once."""

    def __init__(
        self,
        *,
        script: str | None = None,
        surface: str | None = None,
        rewrite: bool = False,
        cover: bool = False,
        strict: bool = False,
    ) -> None:
        """With `script`, every scenario is for that one. `rewrite` makes the expectations what was received.

        `strict` takes the warnings of a script for errors.
        With `cover`, `coverages` tells for each script that was run which of its branches were.
        """
        self.script = script
        self.surface = SURFACES[surface or "ui"]()
        self.rewrite = rewrite
        self.cover = cover
        self.strict = strict
        self.coverages: dict[str, Coverage] = {}
        self.compiled: dict[str, CompiledScript | CompileError] = {}

    def run(self, path: str) -> Outcome:
        """Play the scenario in a file to its script, and compare."""
        began = time.perf_counter()
        script = self.script or script_of(path)
        try:
            outcome = self.play(path, script)
        except CompileError as error:
            outcome = Outcome(path, script, "error", diagnostics=error.diagnostics)
        except RuntimeFailure as failure:
            outcome = Outcome(path, script, "error", diagnostics=(failure.diagnostic,))
        except (UsageError, UpdateError) as error:
            outcome = Outcome(path, script, "error", message=str(error))
        return evolve(outcome, seconds=time.perf_counter() - began)

    def play(self, path: str, script: str | None) -> Outcome:
        data = read_bytes(path)
        source = decode(path, data)
        scenario = read_scenario(source)
        if script is None:
            raise UsageError(f"no script beside {path}: call one like it, without {SUFFIX}, or name one with --script")
        is_new = script not in self.compiled
        compiled = self.compile(script)
        warnings = scenario.warnings
        if is_new or self.strict:
            warnings += warnings_of(compiled.program)
        if self.strict and warnings:
            raise CompileError(hardened(warnings, self.strict))
        artifact = ScriptArtifact("main", compiled)
        lines = list(play(artifact, scenario))
        records = tuple(line for line in lines if isinstance(line, Record))
        (ending,) = (line for line in lines if isinstance(line, Ending))
        if scenario.expect is None and not self.rewrite:
            raise UsageError(f"{path} expects nothing: give it a list `expect`, or let --update write one")
        mismatches = tuple(check_expectations(scenario.expect or (), records, ending))
        status: Status = "failed" if mismatches else "passed"
        if self.rewrite and (mismatches or scenario.expect is None):
            update(path, data, source, scenario.expect or (), records, ending)
            status, mismatches = "updated", ()
        return Outcome(path, script, status, source, records, mismatches, warnings)

    def compile(self, script: str) -> CompiledScript:
        """The script in a file. `CompileError` each time it is asked for, if it is at fault."""
        compiled = self.compiled.get(script)
        if compiled is None:
            try:
                compiled = compile_script(read_source(script), surface=self.surface, sites=True)
                if self.cover:
                    coverage = self.coverages[script] = Coverage(compiled.program)
                    compiled = evolve(compiled, program=coverage.program)
            except CompileError as error:
                compiled = error
            self.compiled[script] = compiled
        if isinstance(compiled, CompileError):
            raise compiled
        return compiled
