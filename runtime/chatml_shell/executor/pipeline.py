"""Running the stages of one pipeline that has been prepared (section 13).

Real processes run all at once with pipes of the kernel between them. As soon as one stage is answered by an interceptor
or simulated by a fake, the stages run one after another and each gets what the one before wrote.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import attrs

from chatml_shell.audit.events import EventName
from chatml_shell.backends.fake import Fake
from chatml_shell.errors import Refusal
from chatml_shell.executor.job import Job
from chatml_shell.executor.prepare import Planned, Prepared, Synthetic
from chatml_shell.executor.watcher import Watcher, exit_facts
from chatml_shell.live.extension import LENIENT, ExtensionFailed, Finished, RejectWith, ReplaceResult
from chatml_shell.output.finalise import Output, finalise, refinalise
from chatml_shell.plans.outcome import SUCCESS, Capture, Status
from chatml_shell.processes.pipeline import run_pipeline


@attrs.frozen(kw_only=True)
class Done:
    """A stage that has ended: what it was, how it ended, what may be shown of it. `raw` is what it wrote."""

    stage: Prepared
    status: Status
    output: Output
    raw: Capture = attrs.field(repr=False)

    @property
    def by(self) -> str | None:
        """The interceptor that answered in the place of the command."""
        return self.stage.by if isinstance(self.stage, Synthetic) else None

    @property
    def backend(self) -> str | None:
        """The backend that ran it."""
        return self.stage.plan.backend if isinstance(self.stage, Planned) else None


async def run_stages(job: Job, stages: Sequence[Prepared], stdin: bytes) -> tuple[Done, ...]:
    """Run the stages of a pipeline; each result has passed the interceptors. Raises `Refusal`."""
    real = [stage for stage in stages if isinstance(stage, Planned) and not isinstance(stage.backend, Fake)]
    if len(real) == len(stages):
        ended = await _all_at_once(job, real, stdin)
    else:
        ended = []
        for index, stage in enumerate(stages):
            done = await _alone(job, stage, stdin)
            if done.raw.cut and index + 1 < len(stages):
                limit = job.runtime.bounds.stdout
                raise Refusal(
                    "output_limit_exceeded",
                    f"a stage wrote more than {limit} bytes, too much to hand on whole",
                    {"limit_bytes": limit},
                )
            ended.append(done)
            stdin = done.raw.data
    async with job.in_time():
        return tuple([await _seen(job, one) for one in ended])


async def _all_at_once(job: Job, stages: Sequence[Planned], stdin: bytes) -> list[Done]:
    outcome = await run_pipeline(
        job.launcher,
        [stage.plan for stage in stages],
        stdin,
        Watcher(job, stages),
        deadline=job.deadline,
        slack=job.redactor.longest,
    )
    return [
        Done(
            stage=stage,
            status=one.status,
            output=finalise(one.stdout, one.stderr, job.redactor, job.runtime.bounds),
            raw=one.stdout,
        )
        for stage, one in zip(stages, outcome.stages, strict=True)
    ]


async def _alone(job: Job, stage: Prepared, stdin: bytes) -> Done:
    """One stage by itself."""
    if isinstance(stage, Synthetic):
        return await _answered(job, stage)
    if isinstance(stage.backend, Fake):
        return await _simulated(job, stage, stage.backend, stdin)
    (done,) = await _all_at_once(job, [stage], stdin)
    return done


async def _answered(job: Job, stage: Synthetic) -> Done:
    response = stage.response
    output = refinalise(Output(response.stdout, response.stderr), job.redactor, job.runtime.bounds)
    finished: EventName = "finished"
    await job.record(stage.subject, finished, exit_facts(response.status))
    data = response.stdout.encode("utf-8", "replace")
    return Done(stage=stage, status=response.status, output=output, raw=Capture(data, len(data)))


async def _simulated(job: Job, stage: Planned, fake: Fake, stdin: bytes) -> Done:
    watcher = Watcher(job, [stage])
    await watcher.starting(stage.plan)
    await watcher.started(stage.plan, None)
    answer = fake.simulate(stage.plan, stdin)
    async with job.in_time():
        status, stdout, stderr = await answer if inspect.isawaitable(answer) else answer
    await watcher.finished(stage.plan, status)
    bounds = job.runtime.bounds
    raw, errors = Capture(stdout, len(stdout)), Capture(stderr, len(stderr))
    return Done(stage=stage, status=status, output=finalise(raw, errors, job.redactor, bounds), raw=raw)


async def _seen(job: Job, done: Done) -> Done:
    """A result after the interceptors, each of which sees what the one before left, finalised again."""
    for interceptor in job.runtime.after:
        finished = Finished(subject=done.stage.subject, status=done.status, output=done.output, intercepted_by=done.by)
        try:
            answer = await interceptor.after(finished)
        except ExtensionFailed as error:
            if interceptor.failure in LENIENT:
                continue
            raise Refusal("interceptor_rejected", f"{interceptor.id}: {error}") from None
        if isinstance(answer, RejectWith):
            raise Refusal("interceptor_rejected", f"{interceptor.id}: {answer.reason}")
        if isinstance(answer, ReplaceResult):
            kept = done.output
            changed = Output(answer.stdout, answer.stderr, kept.stdout_truncated, kept.stderr_truncated)
            output = refinalise(changed, job.redactor, job.runtime.bounds)
            done = attrs.evolve(done, output=output, status=answer.status or done.status)
    return done


def pipeline_status(done: Sequence[Done], pipefail: bool) -> Status:
    """The status of a pipeline: that of its last stage; with `pipefail` of the last one that failed, if any did."""
    failed = [one.status for one in done if one.status != SUCCESS]
    return failed[-1] if pipefail and failed else done[-1].status
