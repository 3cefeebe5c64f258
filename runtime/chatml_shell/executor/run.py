"""Carrying out a request: R0 to R3 of section 13."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from chatml_shell.errors import Refusal
from chatml_shell.executor.job import Job
from chatml_shell.executor.numbers import next_id
from chatml_shell.executor.pipeline import Done, pipeline_status, run_stages
from chatml_shell.executor.prepare import Prepared, prepare
from chatml_shell.live.runtime import LiveRuntime
from chatml_shell.plans.command import Command
from chatml_shell.plans.outcome import SUCCESS, Status
from chatml_shell.plans.request import Operator, Request
from chatml_shell.plans.result import CommandRecord, Result
from chatml_shell.policy.subject import Stdin
from chatml_shell.processes.launcher import Launcher

INTERCEPTED = "intercepted"
"""The backend of a result for which nothing was started."""


async def execute(runtime: LiveRuntime, request: Request, launcher: Launcher) -> Result:
    """Carry out a request in a runtime. Raises `Refusal`; a host that cancels it gets its cancellation back, when all
    processes are gone."""
    request_id = next_id()  # R0
    redactor = runtime.redactor.joined(request.secrets) if request.secrets else runtime.redactor
    size, most = len(request.stdin), runtime.bounds.max_stdin
    if size > most:  # R1
        raise Refusal("stdin_limit_exceeded", f"the input has {size} bytes; {most} are allowed", {"limit_bytes": most})
    limit = runtime.bounds.wall_time
    deadline = asyncio.get_running_loop().time() + limit  # R2
    job = Job(
        runtime=runtime,
        request=request,
        request_id=request_id,
        launcher=launcher,
        redactor=redactor,
        deadline=deadline,
    )
    try:
        return await _run_chain(job)
    except TimeoutError:
        raise Refusal("timed_out", f"it took longer than {limit:g} s", {"timeout_seconds": limit}) from None
    except Refusal as refusal:
        raise Refusal(refusal.code, redactor.redact(refusal.reason), refusal.facts) from refusal.__cause__


async def _run_chain(job: Job) -> Result:
    """Each pipeline whose condition holds: R3."""
    done: list[tuple[Done, ...]] = []
    status: Status = SUCCESS
    for index, link in enumerate(job.request.chain.links):
        if index and not _is_selected(link.operator, status):
            continue
        stdin = b"" if index else job.request.stdin
        async with job.in_time():
            stages = await _prepared(job, link.stages, stdin)
        done.append(await run_stages(job, stages, stdin))
        status = pipeline_status(done[-1], job.runtime.pipefail)
    return _result(job, done, status)


def _is_selected(operator: Operator, previous: Status) -> bool:
    return operator == ";" or (operator == "&&") == (previous == SUCCESS)


async def _prepared(job: Job, commands: Sequence[Command], stdin: bytes) -> list[Prepared]:
    """All stages of a pipeline, prepared before any is started."""
    stages: list[Prepared] = []
    for index, command in enumerate(commands):
        upstream = stages[-1].identity if index else ""
        stages.append(await prepare(job, command, Stdin.of(stdin, is_first=index == 0), upstream))
    return stages


def _result(job: Job, pipelines: Sequence[tuple[Done, ...]], status: Status) -> Result:
    """The output of the last stage of the last pipeline, the complaints of all commands (E-09)."""
    every = [done for pipeline in pipelines for done in pipeline]
    last = pipelines[-1][-1].output
    errors = job.redactor.redact("".join(done.output.stderr for done in every))
    stdout, stderr = job.redactor.apart(last.stdout, errors)
    return Result(
        request_id=job.request_id,
        runtime_id=job.runtime.id,
        manifest_sha256=job.runtime.manifest_sha256,
        status=status,
        stdout=stdout,
        stderr=stderr,
        stdout_truncated=last.stdout_truncated,
        stderr_truncated=any(done.output.stderr_truncated for done in every),
        backend="+".join(sorted({done.backend for done in every if done.backend is not None})) or INTERCEPTED,
        commands=tuple(_command(job, done) for done in every),
    )


def _command(job: Job, done: Done) -> CommandRecord:
    subject = done.stage.subject
    return CommandRecord(
        argv=tuple(map(job.redactor.redact, subject.command.argv)),
        executable=job.redactor.redact(subject.executable.canonical),
        executable_sha256=subject.executable.sha256,
        status=done.status,
        backend=done.backend,
        intercepted_by=done.by,
    )
